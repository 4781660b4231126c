import { Command, CommanderError } from 'commander';
import { auditCommand } from './audit.command.js';
import { environmentCommand } from './environment.command.js';
import { keyCommand } from './key.command.js';
import { recoverCommand } from './recover.command.js';
import { secretsCommand } from './secrets.command.js';
import { EXIT } from './speaking.js';
import { startCommand } from './start.command.js';

const program = new Command('countersign')
  .description('Operates a Countersign server.')
  .exitOverride()
  .configureHelp({ showGlobalOptions: true });

for (const command of [startCommand(), secretsCommand(), auditCommand(), keyCommand(), recoverCommand(), environmentCommand()]) {
  program.addCommand(inheritExit(command));
}

/** Commander ends the process with 1 on wrong usage, which here means "found wrong". */
function inheritExit(command: Command): Command {
  command.exitOverride();
  for (const inner of command.commands) inheritExit(inner);
  return command;
}

try {
  if (process.argv.length <= 2) program.help({ error: true });
  await program.parseAsync(process.argv);
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? EXIT.WELL : EXIT.NO_CONNECTION;
  else {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = EXIT.REFUSED;
  }
}
