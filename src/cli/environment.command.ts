import { Command } from 'commander';
import { environmentExample, environmentVariables } from '../platform/config/environment-example.js';

/** Prints `.env.example` from the schema of the configuration. */
export function environmentCommand(): Command {
  return new Command('environment')
    .description('Prints every environment variable with its meaning and default, in the form of an environment file.')
    .option('--json', 'print one JSON object')
    .action(({ json }: { json?: boolean }) =>
      void process.stdout.write(json ? `${JSON.stringify({ variables: environmentVariables() }, null, 2)}\n` : environmentExample()));
}
