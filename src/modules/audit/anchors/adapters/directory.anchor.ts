import type { Dirent } from 'node:fs';
import { open, readdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { checkpointText, openCheckpoint, originOf, PLATFORM_TREE, readCheckpoint } from '../../../../domain/audit/notes/checkpoint.js';
import { jcs } from '../../../../domain/audit/entry/jcs.js';
import { publicHalf, signingKey } from '../../../../domain/audit/notes/note.js';
import { checkConsistency } from '../../../../domain/audit/tree/tree-proofs.js';
import { readHash } from '../../../../domain/audit/tree/rfc6962.js';
import { AnchorContradicts, type Anchor, type Anchored, type AnchoredNote, type OurTree } from '../../../../platform/audit/anchor.js';
import { makeFolders, syncFolder } from '../../durable-folders.js';

const INSTANCE = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const FILE = /^\d{4}-\d{2}-\d{2}\.jsonl$/;
const CHUNK = 64 * 1024;
const NEWLINE = 0x0a;

/** The last thing that the folder has of an origin. */
interface Last {
  readonly note: AnchoredNote;
  /** Whether it was given up behind it. */
  readonly isGivenUp: boolean;
}

/**
 * Checkpoints in files of a folder, `<folder>/<instance>/<yyyy-mm-dd>.jsonl`, one JSON line for each: `{note, root, size}`, and
 * `{recovered, root, size}` where what came before it was given up. Lines are only added, and are on the disk when it says so. A line that
 * was torn by a full disk or a crash is passed over; it is never cut away.
 */
export class DirectoryAnchor implements Anchor {
  /** @param seed base64 of the key that signs: by its notes an emptied database is recognized */
  constructor(
    readonly name: string,
    private readonly folder: string,
    private readonly seed?: string,
  ) {}

  async newest(origin: string): Promise<AnchoredNote | undefined> {
    return (await this.last(origin))?.note ?? (await this.ofSameKey());
  }

  async publish(origin: string, ours: OurTree): Promise<AnchoredNote> {
    const { newest } = ours;
    const last = await this.last(origin);
    if (last?.note.size === newest.size && last.note.root === newest.root) return last.note;
    if (last && !last.isGivenUp) await assertContinues(this.name, last.note, ours);
    const { note, root, size } = newest;
    await this.append(origin, { note, root, size });
    return newest;
  }

  async giveUp(origin: string, lost: Anchored): Promise<void> {
    const last = await this.last(origin);
    if (!last || last.isGivenUp || last.note.size !== lost.size || last.note.root !== lost.root) return;
    await this.append(origin, { recovered: true, root: last.note.root, size: last.note.size });
  }

  /**
   * The longest that the same key has signed for an installation of another name. One that has published nothing yet, with a key that has
   * signed before, is one whose database was lost, or emptied.
   */
  private async ofSameKey(): Promise<AnchoredNote | undefined> {
    let longest: AnchoredNote | undefined;
    for (const instance of this.seed === undefined ? [] : await foldersIn(this.folder)) {
      const origin = originOf(instance, PLATFORM_TREE);
      const last = await this.last(origin);
      if (!last || last.isGivenUp || last.note.size < (longest?.size ?? 0)) continue;
      const key = publicHalf(signingKey(instance, this.seed!));
      if (!('wrong' in openCheckpoint(last.note.note, [key], origin))) longest = last.note;
    }
    return longest;
  }

  private async last(origin: string): Promise<Last | undefined> {
    const folder = this.folderOf(origin);
    let givenUp: Anchored | undefined;
    for (const file of (await filesIn(folder)).toReversed()) {
      for await (const line of linesFromTheEnd(join(folder, file))) {
        const found = read(line, origin);
        if (!found) continue;
        if (found.note !== undefined) {
          return { note: found as AnchoredNote, isGivenUp: givenUp?.size === found.size && givenUp.root === found.root };
        }
        givenUp ??= found;
      }
    }
    return undefined;
  }

  private async append(origin: string, line: Record<string, string | number | boolean>): Promise<void> {
    const folder = this.folderOf(origin);
    await makeFolders(folder);
    const files = await filesIn(folder);
    const today = `${new Date().toISOString().slice(0, 10)}.jsonl`;
    // A clock that was set back must not begin an older file: they are read by their names, the last one first.
    const file = files.length > 0 && files.at(-1)! > today ? files.at(-1)! : today;
    const handle = await open(join(folder, file), 'a+', 0o644);
    try {
      // Behind a torn line; in the same write, so that two writers do not come between.
      const start = (await endsTorn(handle)) ? '\n' : '';
      const bytes = Buffer.from(`${start}${jcs(line)}\n`, 'utf8');
      const { bytesWritten } = await handle.write(bytes);
      if (bytesWritten !== bytes.length) throw new Error(`only ${bytesWritten} of ${bytes.length} bytes could be written`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await syncFolder(folder);
  }

  private folderOf(origin: string): string {
    const instance = origin.slice(0, origin.lastIndexOf('/'));
    if (!INSTANCE.test(instance)) throw new Error('the name of this installation cannot name a folder');
    return join(this.folder, instance);
  }
}

/** Trusts no proof but what it computes: the note that it has must be a beginning of ours. */
async function assertContinues(name: string, last: AnchoredNote, { newest, prove }: OurTree): Promise<void> {
  const [from, to] = [readHash(last.root), readHash(newest.root)];
  if (last.size < newest.size && from && to) {
    const proof = (await prove(last.size)).map((text) => readHash(text));
    if (proof.every((hash) => hash !== undefined) && checkConsistency(last.size, newest.size, from, to, proof)) return;
  }
  throw new AnchorContradicts(last, `${name} has a checkpoint of ${last.size} entries that ours, of ${newest.size}, does not continue`);
}

/** What a line says, if it is one of ours and whole. What counts is the note; the members beside it are for people and must agree. */
function read(line: string, origin: string): Anchored | undefined {
  let value: { note?: unknown; root?: unknown; size?: unknown; recovered?: unknown } | null;
  try {
    value = JSON.parse(line) as typeof value;
  } catch {
    return undefined;
  }
  const { note, root, size, recovered } = value ?? {};
  if (typeof root !== 'string' || typeof size !== 'number' || !Number.isSafeInteger(size) || !readHash(root)) return undefined;
  if (recovered === true) return { root, size };
  if (typeof note !== 'string') return undefined;
  const text = checkpointText({ origin, size, root });
  return readCheckpoint(text) && note.startsWith(`${text}\n`) ? { note, root, size } : undefined;
}

async function filesIn(folder: string): Promise<string[]> {
  return (await within(folder)).map(({ name }) => name).filter((name) => FILE.test(name)).sort();
}

/** Of installations. */
async function foldersIn(folder: string): Promise<string[]> {
  return (await within(folder)).filter((one) => one.isDirectory() && INSTANCE.test(one.name)).map(({ name }) => name).sort();
}

async function within(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Whole lines, the last one first, without reading more of the file than is wanted. */
async function* linesFromTheEnd(path: string): AsyncGenerator<string> {
  const handle = await open(path, 'r');
  try {
    let { size: at } = await handle.stat();
    // Bytes of a line whose beginning has not been read.
    let rest: Buffer<ArrayBufferLike> = Buffer.alloc(0);
    let isEnd = true;
    while (at > 0) {
      const length = Math.min(CHUNK, at);
      at -= length;
      const chunk = Buffer.alloc(length);
      await handle.read(chunk, 0, length, at);
      rest = Buffer.concat([chunk, rest]);
      for (let end = rest.lastIndexOf(NEWLINE); end >= 0; end = rest.lastIndexOf(NEWLINE)) {
        // What stands behind the last line end is torn.
        if (!isEnd) yield rest.toString('utf8', end + 1);
        isEnd = false;
        rest = rest.subarray(0, end);
      }
    }
    if (!isEnd) yield rest.toString('utf8');
  } finally {
    await handle.close();
  }
}

async function endsTorn(handle: FileHandle): Promise<boolean> {
  const { size } = await handle.stat();
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  await handle.read(last, 0, 1, size - 1);
  return last[0] !== NEWLINE;
}
