import { Command } from 'commander';
import { environmentExample } from '../platform/config/environment-example.js';

/** Prints `.env.example` from the schema of the configuration. */
export function environmentCommand(): Command {
  return new Command('environment')
    .description('Prints every environment variable with its meaning and default, in the form of an environment file.')
    .action(() => void process.stdout.write(environmentExample()));
}
