import { Command } from 'commander';

/** For the list of commands and its help: bin/countersign.mjs itself runs it, since it must work where nothing is built. */
export function secretsCommand(): Command {
  return new Command('secrets')
    .description('Prints a fresh JWT_SECRET, ENCRYPTION_KEY, AUDIT_SIGNING_KEY and INTERNAL_API_KEY for an environment file.')
    .option('--json', 'print one JSON object')
    .action(() => {
      throw new Error('Run it as: npx countersign secrets [--json]');
    });
}
