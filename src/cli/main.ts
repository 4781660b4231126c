import { Command, CommanderError } from 'commander';
import { auditCommand } from './audit/audit.command.js';
import { backupCommand } from './backup/backup.command.js';
import { restoreCommand } from './backup/restore.command.js';
import { environmentCommand } from './environment.command.js';
import { keyCommand } from './key.command.js';
import { failureReason } from './failure-reason.js';
import { recoverCommand } from './recover.command.js';
import { secretsCommand } from './secrets.command.js';
import { EXIT, NO_LOG } from './command-output.js';
import { startCommand } from './start.command.js';

const program = new Command('countersign')
  .description('Operates a Countersign server.')
  .exitOverride()
  .configureHelp({ showGlobalOptions: true });

const commands = [
  startCommand(), secretsCommand(), auditCommand(), keyCommand(), backupCommand(), restoreCommand(), recoverCommand(), environmentCommand(),
];
for (const command of commands) {
  program.addCommand(inheritExit(command));
}

/** Commander ends the process with 1 on wrong usage, which here means "found wrong". */
function inheritExit(command: Command): Command {
  command.exitOverride();
  for (const inner of command.commands) inheritExit(inner);
  return command;
}

/** By itself Node.js ends with 1, which here means "found wrong", and what it prints no operator reads. */
function breakOff(error: unknown): void {
  process.stderr.write(`countersign: broke off by an unexpected error, without an outcome (${failureReason(error, NO_LOG)})\n`);
  process.exit(EXIT.NO_CONNECTION);
}
process.on('uncaughtException', breakOff);

try {
  if (process.argv.length <= 2) program.help({ error: true });
  await program.parseAsync(process.argv);
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? EXIT.WELL : EXIT.NO_CONNECTION;
  else breakOff(error);
}
