import { isJsonObject, type JsonObject, type JsonValue, UNREADABLE } from '../../json.js';
import type { CutPointRow } from './log-source.js';
import { canonical } from '../entry/jcs.js';

// Reads rows of a verification. The owner of the database can put anything there. A malformed value becomes one that no entry has, by which
// its row is found; nothing here throws.

/** A lone surrogate or a NUL: no text column of the database holds either. */
const IN_NO_TEXT = /[\uD800-\uDFFF\0]/u;

/** ISO 8601, UTC, with milliseconds; of what is no moment that this program could have written (`infinity`, the year 290000) its name. */
export function decodeTime(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  return typeof value === 'number' ? String(value) : 'no time';
}

/** The canonical text of JSON, or a text that is none where it has none. */
export function decodeJson(value: JsonValue): string | null {
  return value === null ? null : canonical(value);
}

/** The text itself; for anything else, and for a text that no column holds, its JSON. */
export function decodeText(value: JsonValue | undefined): string {
  return isText(value) ? value : canonical(value);
}

/** What a file can hold of JSON that rows show: what has no canonical form reads as unreadable, and all else stands. */
export function writable(value: JsonValue): JsonValue {
  if (typeof value === 'number') return Number.isFinite(value) ? value : UNREADABLE;
  if (typeof value === 'string') return isText(value) ? value : UNREADABLE;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(writable);
  return writableObject(value);
}

export function writableObject(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [isText(name) ? name : UNREADABLE, writable(inner)]));
}

/** Where one chain was cut, as the row of a retention run has it; the id of its entry stands there once that is recorded. */
export type DecodedCutPoint = Pick<CutPointRow, 'chain' | 'seq' | 'hash' | 'count'> & { readonly sweepEntryId?: string };

export interface DecodedRetentionRun {
  readonly cuts: readonly DecodedCutPoint[];
  readonly checkpoint: CutPointRow['checkpoint'] & JsonObject;
  /** By the ids of its entries. */
  readonly notes: Readonly<Record<string, string>>;
  readonly isReadable: boolean;
}

/** @param notes none where it was not recorded yet */
export function decodeRetentionRun(
  { cuts, checkpoint, notes }: Readonly<Record<'cuts' | 'checkpoint' | 'notes', unknown>>,
): DecodedRetentionRun {
  const read = { cuts: Array.isArray(cuts) ? cuts.filter(isCut) : [], checkpoint: belowOf(checkpoint), notes: decodeNotes(notes) };
  const isReadable = Array.isArray(cuts) && read.cuts.length === cuts.length && read.checkpoint !== undefined &&
    isJsonObject(notes) && Object.keys(read.notes).length === Object.keys(notes).length;
  return { ...read, checkpoint: read.checkpoint ?? NOWHERE, isReadable };
}

/** Those of a retention run's notes that are texts. */
export function decodeNotes(value: unknown): Record<string, string> {
  return isJsonObject(value) ? Object.fromEntries(Object.entries(value).filter((one): one is [string, string] => isText(one[1]))) : {};
}

/** The note of a retention run's entry, where there is one. */
export function noteIn(notes: DecodedRetentionRun['notes'], entryId: string): string | null {
  return Object.hasOwn(notes, entryId) ? notes[entryId]! : null;
}

/** No tree had this size. */
const NOWHERE = { size: -1, root: '', platformSize: -1, platformRoot: '' };

function belowOf(value: unknown): DecodedRetentionRun['checkpoint'] | undefined {
  if (!isJsonObject(value)) return undefined;
  const { size, root, platformSize, platformRoot } = value;
  return isCount(size) && isCount(platformSize) && isText(root) && isText(platformRoot)
    ? { ...value, size, root, platformSize, platformRoot } : undefined;
}

/** Whether a value names where a chain was cut, as rows and entries of retention runs do. */
export function isCut(value: unknown): value is DecodedCutPoint {
  if (!isJsonObject(value)) return false;
  const { chain, seq, hash, count, sweepEntryId } = value;
  return isText(chain) && isCount(seq) && isText(hash) && isCount(count) && (sweepEntryId === undefined || isText(sweepEntryId));
}

/** A text that a column of the database, and a line of a file, can hold. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && !IN_NO_TEXT.test(value);
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
