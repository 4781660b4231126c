import { Command } from 'commander';
import { withEnvironmentFile } from '../start/environment-file.js';
import { EXIT, UsageError, commandOutput } from './command-output.js';
import { anchorsCopyOption, withAnchorsCopy } from './verification/anchors-copy.js';

/** A rehearsal sweeps nothing: the archive may be that of the installation whose settings it has. */
const NO_RETENTION = { AUDIT_RETENTION_DAYS: '', AUDIT_ARCHIVE: '' };

export function startCommand(): Command {
  return new Command('start')
    .description('Starts the server, as npm start does.')
    .addOption(anchorsCopyOption())
    .action(async ({ anchorsCopy }: { anchorsCopy?: string }) => {
      let env = process.env;
      try {
        if (anchorsCopy !== undefined) env = { ...withAnchorsCopy(withEnvironmentFile(env), anchorsCopy), ...NO_RETENTION };
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        process.exitCode = commandOutput('start').refuse(error.message, EXIT.NO_CONNECTION);
        return;
      }
      // Imported here: to load the server would slow every other command.
      const { serve } = await import('../start/serve.js');
      await serve(env);
    });
}
