import { randomBytes } from 'node:crypto';
import {
  chmodSync, closeSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Config, ServerSecrets } from '../config/config.js';
import { StartRefused } from '../config/start-refused.js';
import { key32, secretText } from '../config/value-types.js';

const random = (bytes: number, form: BufferEncoding) => () => randomBytes(bytes).toString(form);

/**
 * The secrets beside the embedded database, each in a file of its own that only its owner may read. A second line holds the former one,
 * while it still counts.
 */
const FILES = {
  jwtSecret: { file: 'jwt-secret', variable: 'JWT_SECRET', type: secretText(32), make: random(48, 'base64url') },
  encryptionKey: { file: 'encryption-key', variable: 'ENCRYPTION_KEY', type: key32(), make: random(32, 'base64') },
  auditSigningKey: { file: 'audit-signing-key', variable: 'AUDIT_SIGNING_KEY', type: key32(), make: random(32, 'base64') },
} as const;

const secretsFolder = (dataDir: string) => join(dataDir, 'secrets');

/**
 * The server's secrets: each from the environment, else from its file, else (only while there is no database yet) made.
 * Once there is data, a lost secret is never replaced: what it guards could not be read or verified any more.
 */
export function embeddedSecrets(config: Config, databaseExists: boolean): ServerSecrets {
  const secretOf = (name: keyof typeof FILES): readonly [string, string?] => {
    const { file, variable, type, make } = FILES[name];
    const given = config[name];
    if (given !== undefined) return name === 'auditSigningKey' ? [given] : [given, config[`${name}Accepted`]];
    const stored = readOrMakeSecret(config.dataDir, file, databaseExists ? undefined : make);
    const path = join(secretsFolder(config.dataDir), file);
    if (stored === undefined) {
      throw new StartRefused(
        `${variable}: is not set, and ${path}, made with the database, is missing. Bring it back from a backup.`,
      );
    }
    const checked = stored.split('\n').map((line) => type.safeParse(line.trim()));
    if (checked.length > 2 || checked.some(({ success }) => !success)) {
      throw new StartRefused(`${variable}: ${path} is damaged. Bring it back from a backup.`);
    }
    return checked.map(({ data }) => data) as [string, string?];
  };
  const [jwtSecret, jwtSecretAccepted] = secretOf('jwtSecret');
  const [encryptionKey, encryptionKeyAccepted] = secretOf('encryptionKey');
  const [auditSigningKey] = secretOf('auditSigningKey');
  return { jwtSecret, encryptionKey, auditSigningKey, jwtSecretAccepted, encryptionKeyAccepted };
}

/** A fresh secret, as the first start would make it. */
export function freshSecret(name: 'jwtSecret' | 'encryptionKey'): string {
  return FILES[name].make();
}

/** Replaces a secret's file, whole or not at all. @param secrets the one in use, and the one that is accepted besides */
export function replaceSecretFile(dataDir: string, name: 'jwtSecret' | 'encryptionKey', secrets: readonly string[]): void {
  const folder = secretsFolder(dataDir);
  const aside = `${FILES[name].file}.${randomBytes(6).toString('hex')}`;
  const descriptor = openSync(join(folder, aside), 'wx', 0o600);
  try {
    writeSync(descriptor, `${secrets.join('\n')}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameInto(folder, aside, FILES[name].file);
}

/** Lays given secrets beside a database that is about to be made. */
export function storeSecrets(dataDir: string, secrets: ServerSecrets): void {
  for (const name of Object.keys(FILES) as (keyof typeof FILES)[]) {
    const accepted = name === 'auditSigningKey' ? undefined : secrets[`${name}Accepted`];
    readOrMakeSecret(dataDir, FILES[name].file, () => [secrets[name], accepted].filter((one) => one !== undefined).join('\n'));
  }
}

/** Where a new signing key stands until the installation has taken it. */
const NEXT_SIGNING_KEY = 'audit-signing-key.next';

/**
 * The signing key's file beside an embedded database, and the key that is to come: the same one however often it is asked for.
 *
 * @param given the new key; made where it is left out
 */
export function nextSigningKey(dataDir: string, given?: string): { readonly present: string | undefined; readonly next: string } {
  const { file, make } = FILES.auditSigningKey;
  const present = readOrMakeSecret(dataDir, file, undefined);
  return { present, next: readOrMakeSecret(dataDir, NEXT_SIGNING_KEY, given === undefined ? make : () => given)! };
}

/** Replaces the signing key by the next one, whole or not at all. */
export function takeNextSigningKey(dataDir: string): void {
  renameInto(secretsFolder(dataDir), NEXT_SIGNING_KEY, FILES.auditSigningKey.file);
}

function renameInto(folder: string, from: string, to: string): void {
  renameSync(join(folder, from), join(folder, to));
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Reads a secret's file, or makes it where `make` is given. Undefined: there is none. */
export function readOrMakeSecret(dataDir: string, file: string, make: (() => string) | undefined): string | undefined {
  const folder = secretsFolder(dataDir);
  const path = join(folder, file);
  if (!existsSync(path)) {
    if (!make) return undefined;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
    writeOnce(path, `${make()}\n`);
  }
  return readFileSync(path, 'utf8').trim();
}

/** Written aside and linked: the file appears whole and on disk, or not at all, and never replaces another. */
function writeOnce(path: string, content: string): void {
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  const descriptor = openSync(aside, 'wx', 0o600);
  try {
    writeSync(descriptor, content);
    fsyncSync(descriptor);
    linkSync(aside, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    closeSync(descriptor);
    rmSync(aside, { force: true });
  }
}
