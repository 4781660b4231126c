import { Command, CommanderError } from 'commander';
import { EXIT, NO_LOG } from './command-output.js';
import { COMMANDS } from './commands.js';
import { sayVisibleSecrets } from './given-key.js';

const program = new Command('countersign')
  .description('Operates a Countersign server, and calls one.')
  .exitOverride()
  .hook('preAction', (_program, command) => sayVisibleSecrets(command))
  .configureHelp({ showGlobalOptions: true });

/** Commander ends the process with 1 on wrong usage, which here means "found wrong". */
function inheritExit(command: Command): Command {
  command.exitOverride();
  for (const inner of command.commands) inheritExit(inner);
  return command;
}

/** By itself Node.js ends with 1, which here means "found wrong", and what it prints no operator reads. */
async function breakOff(error: unknown): Promise<void> {
  const { failureReason } = await import('./failure-reason.js');
  process.stderr.write(`countersign: broke off by an unexpected error, without an outcome (${failureReason(error, NO_LOG)})\n`);
  process.exit(EXIT.NO_CONNECTION);
}
process.on('uncaughtException', (error) => void breakOff(error));

try {
  const named = Object.hasOwn(COMMANDS, process.argv[2] ?? '') ? [COMMANDS[process.argv[2]!]!] : Object.values(COMMANDS);
  for (const load of named) program.addCommand(inheritExit(await load()));
  if (process.argv.length <= 2) program.help({ error: true });
  await program.parseAsync(process.argv);
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? EXIT.WELL : EXIT.NO_CONNECTION;
  else await breakOff(error);
}
