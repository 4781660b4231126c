import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { KEY_BYTES, MULTISET_WORDS } from '../../domain/audit/completeness/multiset-hash.js';
import type { ReadUpTo } from '../../domain/audit/integrity/superseded/verify-parts.js';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../domain/json.js';

/** Beside no server: whoever verifies keeps it. */
export function defaultRemembered(): string {
  return join(homedir(), '.countersign', 'checkpoints.json');
}

/** What earlier verifications leave: checkpoints that were found good, and up to which of them all entries were read. */
export interface Remembered {
  readonly notes: readonly string[];
  readonly readUpTo: readonly ReadUpTo[];
}

export const NOTHING_REMEMBERED: Remembered = { notes: [], readUpTo: [] };

/**
 * What is remembered, of every installation.
 *
 * @throws Error when the file is there and cannot be read: to go on would forget what it was to be compared with
 */
export function readRemembered(file: string): Remembered {
  const kept = Object.values(rememberedIn(file));
  const readUpTo = kept.filter((one) => typeof one !== 'string');
  return { notes: kept.map((one) => (typeof one === 'string' ? one : one.note)), readUpTo };
}

/**
 * Keeps checkpoints by their origin, in place of older ones. Those of a verification that read not all stand beside the last up to which
 * all was read.
 */
export function remember(file: string, { notes, readUpTo = [] }: Pick<Remembered, 'notes'> & Partial<Remembered>): void {
  const known = rememberedIn(file);
  for (const note of notes) known[originIn(note)] = note;
  for (const one of readUpTo) known[`${originIn(one.note)} read`] = one;
  orSay(file, 'cannot be written', () => {
    const written = partOf(file);
    writeFileSync(written, `${JSON.stringify(known, null, 2)}\n`, { mode: 0o600 });
    renameSync(written, file);
  });
}

/**
 * Makes the folder, and looks whether it takes a file.
 *
 * @throws Error when nothing could be kept there
 */
export function prepareToRemember(file: string): void {
  orSay(file, 'cannot be written', () => {
    makeFolders(dirname(file));
    writeFileSync(partOf(file), '', { mode: 0o600 });
    rmSync(partOf(file));
  });
}

function partOf(file: string): string {
  return `${file}.${process.pid}.part`;
}

/** One after the other: made at once, Node.js tries for ever where a file system takes no folders, such as /proc. */
function makeFolders(folder: string): void {
  if (existsSync(folder)) return;
  if (dirname(folder) !== folder) makeFolders(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function orSay<Result>(file: string, what: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new Error(`--remember ${file} ${what} (${(error as Error).message}): ${ANOTHER}`, { cause: error });
  }
}

const ANOTHER = 'give another file, or --no-remember to compare with nothing';

function originIn(note: string): string {
  return note.slice(0, note.indexOf('\n'));
}

function rememberedIn(file: string): Record<string, string | ReadUpTo> {
  if (!existsSync(file)) return {};
  const text = orSay(file, 'cannot be read', () => readFileSync(file, 'utf8'));
  const kept = parsed(text);
  if (!isJsonObject(kept) || !Object.values(kept).every((one) => typeof one === 'string' || isReadUpTo(one))) {
    throw new Error(`--remember ${file} holds no checkpoints that an earlier verification has kept: ${ANOTHER}`);
  }
  return { ...kept } as Record<string, string | ReadUpTo>;
}

/** What is none is nothing; the parser's own words would repeat a piece of it, and it holds keys. */
function parsed(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

function isReadUpTo(one: JsonValue): boolean {
  if (!isJsonObject(one) || typeof one['note'] !== 'string' || typeof one['key'] !== 'string') return false;
  const { stood } = one;
  return Buffer.from(one['key'], 'base64').length === KEY_BYTES && isJsonObject(stood ?? null) && isSum(stood as JsonObject);
}

function isSum({ count, lanes }: JsonObject): boolean {
  return typeof count === 'number' && Array.isArray(lanes) && lanes.length === MULTISET_WORDS && lanes.every((lane) => typeof lane === 'number');
}
