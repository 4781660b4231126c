import { Argument, Command } from 'commander';
import { StartRefused } from '../../platform/config/start-refused.js';
import { withEnvironmentFile } from '../../start/environment-file.js';
import { onDatabaseOf } from '../database-address.js';
import { failureReason } from '../failure-reason.js';
import { EXIT, NEVER_SET_UP, NO_DATABASE, commandOutput } from '../command-output.js';
import type { Answer, Rotation, SecretName } from './rotation.js';

const { say, refuse } = commandOutput('secrets');

const CODES = 'Exit codes: 0 done, 1 refused, 2 could not reach the database.';

interface Options {
  json?: boolean;
  end?: boolean;
  leaked?: boolean;
}

/** Without a word after it bin/countersign.mjs itself runs it, since that must work where nothing is built. */
export function secretsCommand(): Command {
  const secrets = new Command('secrets')
    .description('Prints a fresh JWT_SECRET, ENCRYPTION_KEY, AUDIT_SIGNING_KEY and INTERNAL_API_KEY for an environment file.')
    .option('--json', 'print one JSON object')
    .action(() => {
      throw new Error('Run it as: node bin/countersign.mjs secrets [--json]');
    });
  secrets
    .command('rotate')
    .description(`Replaces a secret step by step, without a stop: takes the next step, or says what it is. ${CODES}`)
    .addArgument(new Argument('<name>', 'the secret').choices(['JWT_SECRET', 'ENCRYPTION_KEY']))
    .option('--end', 'ends it: the former one counts no more. Refused while something still needs it')
    .option('--leaked', 'ends it at once, without waiting for tokens to end; the former one never counts again')
    .option('--json', 'print one JSON object')
    .action((name: SecretName, options: Options, command: Command) => onRotation(command, (rotation) => rotation.step(name, options)));
  secrets
    .command('reseal')
    .description(`Seals by ENCRYPTION_KEY what is sealed by the former one; goes on where it was. ${CODES}`)
    .option('--json', 'print one JSON object')
    .action((_: Options, command: Command) => onRotation(command, (rotation) => rotation.reseal(say)));
  secrets
    .command('status')
    .description(`Says which secrets are being replaced, and how many rows are sealed by which key. ${CODES}`)
    .option('--json', 'print one JSON object')
    .action((_: Options, command: Command) => onRotation(command, (rotation) => rotation.status()));
  return secrets;
}

async function onRotation(command: Command, work: (rotation: Rotation) => Promise<Answer>): Promise<void> {
  const env = withEnvironmentFile(process.env);
  try {
    const [{ loadConfig }, { Rotation }, { withDataSource }] = await Promise.all([
      import('../../platform/config/config.js'), import('./rotation.js'), import('../../platform/database/transaction/command-work.js'),
    ]);
    const config = loadConfig(env);
    const done = await onDatabaseOf(env, (url) => withDataSource(url, 2, async (dataSource) => {
      const { text, members } = await work(await Rotation.of(config, dataSource));
      process.stdout.write(command.optsWithGlobals<Options>().json ? `${JSON.stringify(members, null, 2)}\n` : text);
    }));
    process.exitCode = done === undefined ? refuse(NO_DATABASE, EXIT.NO_CONNECTION) : EXIT.WELL;
  } catch (error) {
    process.exitCode = refuse(failureReason(error, NEVER_SET_UP), error instanceof StartRefused ? EXIT.REFUSED : EXIT.NO_CONNECTION);
  }
}
