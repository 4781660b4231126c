import { Command } from 'commander';
import type { RotatedKey } from '../modules/organizations/installation/rotate-root-key.js';
import { StartRefused } from '../platform/config/start-refused.js';
import { withEnvironmentFile } from '../start/environment-file.js';
import { RootKeyFile } from '../start/root-key-file.js';
import { onDatabaseOf, withDatabase } from './database-address.js';
import { failureReason } from './failure-reason.js';
import { DATABASE_DEFAULT, EXIT, NEVER_SET_UP, NO_DATABASE, commandOutput } from './command-output.js';

const { say, refuse } = commandOutput('key rotate');

interface RotateOptions {
  databaseUrl?: string;
  json?: boolean;
}

/** Commands over the root key. */
export function keyCommand(): Command {
  const key = new Command('key').description('Looks after the root key.');
  key
    .command('rotate')
    .description('Replaces the root key, also when it is lost. Exit codes: 0 replaced, 1 refused, 2 could not reach the database.')
    .option('--database-url <url>', `database to write to; ${DATABASE_DEFAULT}`)
    .option('--json', 'print one JSON object')
    .action(async (options: RotateOptions) => {
      process.exitCode = await rotate(options, withEnvironmentFile(process.env));
    });
  return key;
}

async function rotate({ databaseUrl, json }: RotateOptions, env: NodeJS.ProcessEnv): Promise<number> {
  let file: RootKeyFile | undefined;
  try {
    const path = env['ROOT_KEY_FILE'];
    file = path ? RootKeyFile.open(path) : undefined;
    const meant = withDatabase(env, databaseUrl);
    const { rotateRootKey } = await import('../modules/organizations/installation/rotate-root-key.js');
    const made = await onDatabaseOf(meant, async (url) => {
      const rotated = await rotateRootKey(url);
      present(rotated, { json: json === true, path, file });
      return rotated;
    });
    return made === undefined ? refuse(NO_DATABASE, EXIT.NO_CONNECTION) : EXIT.WELL;
  } catch (error) {
    return refuse(failureReason(error, NEVER_SET_UP), error instanceof StartRefused ? EXIT.REFUSED : EXIT.NO_CONNECTION);
  } finally {
    file?.close();
  }
}

/** Shows the key, once. A failure after the commit must not keep it from being shown. */
function present(rotated: RotatedKey, to: { json: boolean; path: string | undefined; file: RootKeyFile | undefined }): void {
  const { rootKey, keyId, rotatedAt } = rotated;
  const writtenTo = written(rootKey, to);
  if (rotated.unwaited !== undefined) {
    say(`the old key is dead, but calls that it had begun may still end: ${failureReason(rotated.unwaited, NEVER_SET_UP)}`);
  }
  const where = writtenTo === undefined ? { rootKey } : { rootKeyFile: writtenTo };
  process.stdout.write(to.json ? `${JSON.stringify({ ...where, keyId, rotatedAt }, null, 2)}\n` : report(rootKey, writtenTo));
}

function written(rootKey: string, { path, file }: { path: string | undefined; file: RootKeyFile | undefined }): string | undefined {
  try {
    file?.write(rootKey);
    return path || undefined;
  } catch (error) {
    say(`ROOT_KEY_FILE: ${path} could not be written, so the key is shown instead (${(error as NodeJS.ErrnoException).code})`);
    return undefined;
  }
}

function report(rootKey: string, writtenTo: string | undefined): string {
  const key = writtenTo === undefined
    ? [`  Root key   ${rootKey}`, '             Shown this once: keep it where only you can read it.']
    : [`  Root key   written to ${writtenTo}`];
  return [
    '', '  The root key has been replaced. The old one is dead on every server of this database; none needs a restart.', '', ...key, '',
    '  Give it to whatever calls with the root key. ROOT_API_KEY counts at the first set-up only: a start with the old',
    '  one in it does not bring it back.', '', '',
  ].join('\n');
}
