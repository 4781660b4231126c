import { createHash, type Hash } from 'node:crypto';
import { StartRefused } from '../../../platform/config/start-refused.js';
import { MANIFEST, README, SECRETS, readManifest, readSecrets, tableOfPart, type BackupSecrets, type Manifest } from './manifest.js';
import { tarMembers, type TarMember } from './tar.js';

/** Opens the file's content from its beginning, each time that it is called. */
export type OpenContent = () => AsyncIterable<Uint8Array>;

const LARGEST_TEXT = 16 * 1024 * 1024;
const NOT_OURS = 'this is encrypted by age, and no backup of Countersign';
const OTHER_ROWS = 'the rows in this backup are not those that its manifest names';

/** A backup that was read to its end and found whole. */
export interface ReadBackup {
  readonly manifest: Manifest;
  readonly secrets: BackupSecrets;
}

/**
 * Reads all of it before anything is done with any of it: what was altered or cut off is found at the place where it is, which may be
 * the last one.
 *
 * @throws StartRefused when it is no backup, or not whole
 */
export async function checkBackup(open: OpenContent, onBytes: (bytes: number) => void): Promise<ReadBackup> {
  const seen = new SeenTables(onBytes);
  let manifest: Manifest | undefined;
  let secrets: BackupSecrets | undefined;
  for await (const member of membersOf(open)) {
    const table = tableOfPart(member.name);
    if (manifest !== undefined) throw new StartRefused(NOT_OURS);
    if (table !== undefined) await seen.take(table, member.content);
    else if (member.name === SECRETS) secrets = readSecrets(await textOf(member));
    else if (member.name === MANIFEST) manifest = readManifest(await textOf(member));
    else if (member.name === README) await textOf(member);
    else throw new StartRefused(NOT_OURS);
  }
  if (manifest === undefined || secrets === undefined) throw new StartRefused(NOT_OURS);
  seen.compareWith(manifest);
  return { manifest, secrets };
}

/** A table's rows, in the order in which the backup has them. */
export interface TableContent {
  readonly table: string;
  readonly rows: AsyncIterable<Uint8Array>;
}

/** The parts of the tables. Each is to be read to its end before the next is asked for. */
export async function* tableParts(open: OpenContent): AsyncGenerator<TableContent> {
  for await (const member of membersOf(open)) {
    const table = tableOfPart(member.name);
    if (table === undefined) for await (const _rest of member.content);
    else yield { table, rows: member.content };
  }
}

async function* membersOf(open: OpenContent): AsyncGenerator<TarMember> {
  try {
    yield* tarMembers(open());
  } catch (error) {
    if (error instanceof StartRefused) throw error;
    throw new StartRefused(NOT_OURS);
  }
}

async function textOf({ size, content }: TarMember): Promise<string> {
  if (size > LARGEST_TEXT) throw new StartRefused(NOT_OURS);
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

/** Counts and sums what comes by. */
export class SeenTables {
  private readonly tables = new Map<string, { hash: Hash; bytes: number; rows: number }>();
  private bytes = 0;

  constructor(private readonly onBytes: (bytes: number) => void) {}

  async take(table: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const part of content) this.add(table, part);
  }

  add(table: string, part: Uint8Array): void {
    const seen = this.tables.get(table) ?? { hash: createHash('sha256'), bytes: 0, rows: 0 };
    this.tables.set(table, seen);
    seen.hash.update(part);
    seen.bytes += part.length;
    // A line is a row: ends of lines within values are written as \n.
    for (let at = part.indexOf(10); at !== -1; at = part.indexOf(10, at + 1)) seen.rows++;
    this.onBytes((this.bytes += part.length));
  }

  of(table: string): { readonly rows: number; readonly bytes: number; readonly sha256: string } {
    const { hash, bytes, rows } = this.tables.get(table) ?? { hash: createHash('sha256'), bytes: 0, rows: 0 };
    return { rows, bytes, sha256: hash.copy().digest('hex') };
  }

  /** @throws StartRefused where they are others */
  compareWith({ tables }: Manifest): void {
    const isSame = tables.every(({ name, rows, bytes, sha256 }) => {
      const seen = this.of(name);
      return seen.rows === rows && seen.bytes === bytes && seen.sha256 === sha256;
    });
    const named = new Set(tables.map(({ name }) => name));
    if (!isSame || [...this.tables.keys()].some((name) => !named.has(name))) throw new StartRefused(OTHER_ROWS);
  }
}
