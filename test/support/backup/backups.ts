import { createHash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { decrypterBy, encrypted, sealingFor } from '../../../src/cli/backup/file/age-file.js';
import type { Manifest } from '../../../src/cli/backup/file/manifest.js';
import { tarEnd, tarMember } from '../../../src/cli/backup/file/tar.js';
import { countersign } from '../servers/command-line.js';
import { TEST_ENVIRONMENT, runFolder, type Environment } from '../servers/test-run.js';

/** The secrets that every server of the tests has. */
export const SECRETS = Object.fromEntries(
  ['JWT_SECRET', 'ENCRYPTION_KEY', 'AUDIT_SIGNING_KEY'].map((name) => [name, TEST_ENVIRONMENT[name]!]),
) as Environment;

/** A key pair of `age`, in files as an operator has them, and a folder for backups. */
export interface BackupPlace {
  readonly folder: string;
  readonly recipient: string;
  readonly identityFile: string;
  /** What a command is given to find no database but the one that is named. */
  readonly env: Environment;
}

export async function aBackupPlace(): Promise<BackupPlace> {
  const folder = mkdtempSync(join(runFolder(), 'backups-'));
  const identity = await generateIdentity();
  const identityFile = join(folder, 'identity.txt');
  writeFileSync(identityFile, `# a key of the tests\n${identity}\n`);
  return { folder, recipient: await identityToRecipient(identity), identityFile, env: { DATA_DIR: join(folder, 'none'), ...SECRETS } };
}

/** Backs a database up by the command. @returns the file */
export async function backupOf(databaseUrl: string, place: BackupPlace, name = 'backup.age'): Promise<string> {
  const file = join(place.folder, name);
  const words = ['backup', '--out', file, '--recipient', place.recipient, '--json'];
  const { code, stderr } = await countersign(words, { ...place.env, DATABASE_URL: databaseUrl });
  if (code !== 0) throw new Error(`backup ended with ${code}: ${stderr}`);
  return file;
}

/** Restores by the command. */
export function restored(file: string, databaseUrl: string, place: BackupPlace, ...more: readonly string[]) {
  const words = ['restore', file, '--identity-file', place.identityFile, '--json', ...more];
  return countersign(words, { ...place.env, DATABASE_URL: databaseUrl });
}

/** SHA-256 of a table's rows as they stand in the database, in the form and order in which they were loaded. */
export async function sumsIn(databaseUrl: string, { tables }: Pick<Manifest, 'tables'>): Promise<Record<string, string>> {
  const client = new pg.Client({ connectionString: databaseUrl, options: '-c timezone=UTC -c synchronize_seqscans=off' });
  await client.connect();
  try {
    const sums: Record<string, string> = {};
    for (const { name, columns } of tables) {
      const hash = createHash('sha256');
      for await (const part of client.query(copyTo(`copy ${name} (${columns.join(', ')}) to stdout`))) hash.update(part as Buffer);
      sums[name] = hash.digest('hex');
    }
    return sums;
  } finally {
    await client.end();
  }
}

/** A backup that somebody puts together: whoever knows the recipient can. */
export async function madeBackup(files: Readonly<Record<string, string>>, place: BackupPlace, name: string): Promise<string> {
  const archive = async function* () {
    for (const [path, text] of Object.entries(files)) yield* tarMember(path, [Buffer.from(text)], new Date());
    yield tarEnd();
  };
  const parts: Uint8Array[] = [];
  for await (const part of encrypted(archive(), sealingFor({ recipient: [place.recipient] }))) parts.push(part);
  const file = join(place.folder, name);
  writeFileSync(file, Buffer.concat(parts));
  return file;
}

export const openerOf = ({ identityFile }: BackupPlace) => decrypterBy({ identityFile });
