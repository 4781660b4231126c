import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { Command } from 'commander';
import type { RotatedSigningKey, SigningKeys } from '../../modules/audit/keys/rotate-signing-key.js';
import { StartRefused } from '../../platform/config/start-refused.js';
import { key32 } from '../../platform/config/value-types.js';
import { nextSigningKey, takeNextSigningKey } from '../../platform/embedded/secret-files.js';
import { withEnvironmentFile } from '../../start/environment-file.js';
import { dataDirOf, onDatabaseOf, withDatabase } from '../database-address.js';
import { failureReason } from '../failure-reason.js';
import { EXIT, NEVER_SET_UP, NO_DATABASE, commandOutput } from '../command-output.js';

const { refuse } = commandOutput('audit rotate-key');

const NO_PRESENT_KEY = 'the key that signs now is needed to vouch for the new one: set AUDIT_SIGNING_KEY or AUDIT_SIGNING_KEY_FILE';
const UNFINISHED = 'a rotation to another key was begun and not ended: run the command without --new-key-file first';
const NO_FILE = '--new-key-file: say where the new key stands, or is to be written when it is to be made';

interface RotateOptions {
  databaseUrl?: string;
  newKeyFile?: string;
  json?: boolean;
}

/** The two keys, and what is left to do with the new one once it counts. */
interface Keys extends SigningKeys {
  /** Puts it where the server looks; absent where that is the operator's to do. */
  readonly take?: () => void;
}

export function rotateSigningKeyCommand(): Command {
  return new Command('rotate-key')
    .description('Replaces the key that signs checkpoints. Exit codes: 0 replaced, 1 refused, 2 could not reach the database.')
    .option('--database-url <url>', 'database to write to, past a pooler; default: DATABASE_LISTEN_URL, DATABASE_URL, the embedded one')
    .option('--new-key-file <path>', 'the new key: 32 bytes in base64; made and written there when there is no such file')
    .option('--json', 'print one JSON object')
    .action(async (options: RotateOptions) => {
      process.exitCode = await rotate(options, withEnvironmentFile(process.env));
    });
}

async function rotate({ databaseUrl, newKeyFile, json }: RotateOptions, env: NodeJS.ProcessEnv): Promise<number> {
  try {
    const past = env['DATABASE_LISTEN_URL'];
    const meant = withDatabase(past ? { ...env, DATABASE_URL: past } : env, databaseUrl);
    const { rotateSigningKey } = await import('../../modules/audit/keys/rotate-signing-key.js');
    const done = await onDatabaseOf(meant, async (url) => {
      const keys = keysOf(env, newKeyFile);
      const rotated = await rotateSigningKey(url, keys);
      keys.take?.();
      process.stdout.write(json ? `${JSON.stringify(rotated, null, 2)}\n` : report(rotated, keys.take !== undefined, newKeyFile));
    });
    return done === undefined ? refuse(NO_DATABASE, EXIT.NO_CONNECTION) : EXIT.WELL;
  } catch (error) {
    return refuse(failureReason(error, NEVER_SET_UP), error instanceof StartRefused ? EXIT.REFUSED : EXIT.NO_CONNECTION);
  }
}

function keysOf(env: NodeJS.ProcessEnv, newKeyFile: string | undefined): Keys {
  const given = env['AUDIT_SIGNING_KEY'] || (env['AUDIT_SIGNING_KEY_FILE'] && readFileSync(env['AUDIT_SIGNING_KEY_FILE'], 'utf8'));
  if (given) {
    if (newKeyFile === undefined) throw new StartRefused(NO_FILE);
    return { present: keyText('AUDIT_SIGNING_KEY', given), next: keyText(newKeyFile, readOrMake(newKeyFile)) };
  }
  const dataDir = dataDirOf(env);
  if (env['DATABASE_URL'] || env['DATABASE_URL_FILE'] || !existsSync(dataDir)) throw new StartRefused(NO_PRESENT_KEY);
  const wanted = newKeyFile === undefined ? undefined : keyText(newKeyFile, readOrMake(newKeyFile));
  const { present, next } = nextSigningKey(dataDir, wanted);
  if (wanted !== undefined && next !== wanted) throw new StartRefused(UNFINISHED);
  if (present === undefined) throw new StartRefused(NO_PRESENT_KEY);
  return { present, next, take: () => takeNextSigningKey(dataDir) };
}

/** A key that is made stands on disk before it signs anything: what only this process knew would be lost with it. */
function readOrMake(path: string): string {
  if (!existsSync(path)) {
    const descriptor = openSync(path, 'wx', 0o600);
    try {
      writeSync(descriptor, `${randomBytes(32).toString('base64')}\n`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }
  return readFileSync(path, 'utf8');
}

function keyText(where: string, text: string): string {
  const read = key32().safeParse(text.trim());
  if (!read.success) throw new StartRefused(`${where}: ${read.error.issues[0]!.message}`);
  return read.data;
}

function report({ keyId, verifierKey, size, already }: RotatedSigningKey, isTaken: boolean, file: string | undefined): string {
  const what = already
    ? `  Key ${keyId} signs checkpoints already; nothing was changed.`
    : `  Key ${keyId} signs checkpoints from now on. Checkpoint ${size} of the platform's tree is signed by both keys.`;
  const then = isTaken
    ? 'The key beside the embedded database has been replaced. Start the server again: until then nothing is signed.'
    : `Give every server the key in ${file} as AUDIT_SIGNING_KEY, and start it again: until the first one is, nothing is signed.`;
  return ['', what, '', `  Verifier key   ${verifierKey}`, '', `  ${then}`, '', ''].join('\n');
}
