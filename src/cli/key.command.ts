import { Command } from 'commander';
import type { RotatedKey } from '../modules/organizations/rotate-root-key.js';
import { StartRefused } from '../platform/config/start-refused.js';
import { withEnvironmentFile } from '../start/environment-file.js';
import { RootKeyFile } from '../start/root-key-file.js';
import { onDatabaseOf } from './database-address.js';
import { reason } from './reason.js';

const DONE = 0;
const REFUSED = 1;
const NO_CONNECTION = 2;

const NO_DATABASE = 'no database: give --database-url or DATABASE_URL, or the DATA_DIR of a server with an embedded one';

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
    .option('--database-url <url>', 'database to write to; default: DATABASE_URL, else the embedded database of DATA_DIR')
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
    const meant = databaseUrl === undefined ? env : { DATABASE_URL: databaseUrl };
    const { rotateRootKey } = await import('../modules/organizations/rotate-root-key.js');
    const made = await onDatabaseOf(meant, async (url) => {
      const rotated = await rotateRootKey(url);
      tell(rotated, { json: json === true, path, file });
      return rotated;
    });
    return made === undefined ? refuse(NO_DATABASE, NO_CONNECTION) : DONE;
  } catch (error) {
    return refuse(reason(error, 'this database was never set up'), error instanceof StartRefused ? REFUSED : NO_CONNECTION);
  } finally {
    file?.close();
  }
}

/** The key, once. What fails after the commit must not take it along. */
function tell(rotated: RotatedKey, to: { json: boolean; path: string | undefined; file: RootKeyFile | undefined }): void {
  const { rootKey, keyId, rotatedAt } = rotated;
  const writtenTo = written(rootKey, to);
  if (rotated.unwaited !== undefined) {
    say(`the old key is dead, but calls that it had begun may still end: ${reason(rotated.unwaited, '')}`);
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

function refuse(why: string, code: number): number {
  say(why);
  return code;
}

function say(text: string): void {
  process.stderr.write(`countersign key rotate: ${text}\n`);
}
