import { createHash, randomBytes } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { access, mkdir, open, readdir, rename, rm, rmdir, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { ArchiveStore, type ArchivedObject } from '../../../../platform/audit/archive-store.js';
import { checkoutRoot } from '../../../../platform/config/checkout-root.js';
import type { Config } from '../../../../platform/config/config.js';
import { makeFolders, syncFolder } from '../../durable-folders.js';

const PART = '.part';
const LINE_END = 10;
/** Bytes are refused, not replaced: else an object could be changed and read the same. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Archives in a folder, which must be there: made where a disk should have been mounted, it would take in what is then deleted
 * elsewhere. An object is written under another name and renamed once the disk has it. Without a folder nothing was archived, and nothing
 * can be.
 */
export class DirectoryArchive extends ArchiveStore {
  constructor(private readonly folder: string | undefined) {
    super();
  }

  async write(name: string, lines: AsyncIterable<string>): Promise<ArchivedObject> {
    if (await this.exists(name)) throw new Error(`the archive has an object ${name} already`);
    return this.put(name, lines);
  }

  async replace(name: string, lines: AsyncIterable<string>): Promise<ArchivedObject> {
    if (!(await this.exists(name))) throw new Error(`the archive has no object ${name}`);
    await this.removeParts(name);
    return this.put(name, lines);
  }

  async *read(name: string): AsyncGenerator<string> {
    const stored = createReadStream(this.pathOf(name));
    if (!name.endsWith('.gz')) {
      yield* textLines(stored);
      return;
    }
    const unpacked = createGunzip();
    // What fails in the file fails in its reader.
    stored.on('error', (error) => unpacked.destroy(error));
    try {
      yield* textLines(stored.pipe(unpacked));
    } finally {
      stored.destroy();
      unpacked.destroy();
    }
  }

  async exists(name: string): Promise<boolean> {
    if (this.folder === undefined) return false;
    return stat(this.pathOf(name)).then(() => true, (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return false;
    });
  }

  async discard(folder: string): Promise<void> {
    if (!(await this.exists(folder))) return;
    const path = this.pathOf(folder);
    await rm(path, { recursive: true });
    await syncFolder(dirname(path));
  }

  async check(): Promise<void> {
    const folder = this.root;
    const found = await stat(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      const what = `the folder of archives (AUDIT_ARCHIVE) ${folder} is not there: mount it or, for a new one, make it`;
      throw Object.assign(new Error(what, { cause: error }), { code: error.code });
    });
    if (!found.isDirectory()) throw new Error(`${folder} (AUDIT_ARCHIVE) is not a folder: name one where archives are to be kept`);
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    // Rights say nothing of a disk that was mounted to be read only.
    const probe = join(folder, `.${randomBytes(8).toString('hex')}${PART}`);
    await mkdir(probe);
    await rmdir(probe);
  }

  private async put(name: string, lines: AsyncIterable<string>): Promise<ArchivedObject> {
    const path = this.pathOf(name);
    await makeFolders(dirname(path), 0o700, this.root);
    const part = `${path}.${randomBytes(8).toString('hex')}${PART}`;
    try {
      const handle = await open(part, 'wx', 0o600);
      const written = await fill(handle, lines, name.endsWith('.gz')).finally(() => handle.close());
      await rename(part, path);
      await syncFolder(dirname(path));
      return written;
    } catch (error) {
      await rm(part, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  /** What a writing that was cut off has left beside an object holds what the object must not hold any more. */
  private async removeParts(name: string): Promise<void> {
    const folder = dirname(this.pathOf(name));
    for (const file of await readdir(folder)) {
      if (file.startsWith(`${basename(name)}.`) && file.endsWith(PART)) await rm(join(folder, file), { force: true });
    }
  }

  private get root(): string {
    if (this.folder === undefined) throw new Error('AUDIT_ARCHIVE names no folder for archives');
    return this.folder;
  }

  private pathOf(name: string): string {
    if (!isName(name)) throw new Error(`${JSON.stringify(name)} is no name of an archive's object`);
    return join(this.root, ...name.split('/'));
  }
}

/** Where archives go, as the configuration says: whatever folder a command is run in, it means the same one as the server. */
export function archiveOf({ auditArchive }: Pick<Config, 'auditArchive'>): ArchiveStore {
  return new DirectoryArchive(auditArchive === undefined ? undefined : resolve(checkoutRoot(), auditArchive));
}

/** Segments that are no way out of the folder, and mean the same on every file system. */
function isName(name: string): boolean {
  return name.split('/').every((segment) => /^[A-Za-z0-9_][A-Za-z0-9._-]{0,199}$/.test(segment) && !segment.endsWith(PART));
}

async function fill(handle: FileHandle, lines: AsyncIterable<string>, packed: boolean): Promise<ArchivedObject> {
  const digest = createHash('sha256');
  let bytes = 0;
  const counted = async function* () {
    for await (const line of lines) {
      if (line.includes('\n')) throw new Error('a line of an archive holds a line end');
      const chunk = Buffer.from(`${line}\n`, 'utf8');
      digest.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  };
  const file = async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) await handle.writeFile(chunk);
  };
  const source = Readable.from(counted(), { objectMode: false });
  await (packed ? pipeline(source, createGzip(), file) : pipeline(source, file));
  await handle.sync();
  return { digest: digest.digest('hex'), bytes };
}

/** Split at line feeds alone: other line ends may stand within a line. @throws TypeError for what is no UTF-8 */
async function* textLines(chunks: AsyncIterable<unknown>): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  for await (const chunk of chunks as AsyncIterable<Buffer>) {
    let from = 0;
    for (let to = chunk.indexOf(LINE_END); to >= 0; from = to + 1, to = chunk.indexOf(LINE_END, from)) {
      yield UTF8.decode(Buffer.concat([...rest, chunk.subarray(from, to)]));
      rest = [];
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
  }
  if (rest.length > 0) throw new Error('an object of the archive ends within a line');
}
