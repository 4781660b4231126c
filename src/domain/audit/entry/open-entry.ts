import { getOrInsert } from '../../collections.js';
import { isJsonObject, type JsonObject, type JsonValue, readJson } from '../../json.js';
import { pointerSteps } from './json-pointer.js';
import { isErasedName, readEntry } from './read-entry.js';
import { TIMESTAMP } from './payload.js';
import type { StoredEntry } from './stored-entry.js';

/** An entry as completeness and replay read it. */
export interface OpenEntry {
  readonly stored: StoredEntry;
  /** Stamped time, in milliseconds. */
  readonly at: number;
  readonly metadata: JsonObject;
  readonly origin: JsonObject | undefined;
  /** Members of its metadata of which something is erased, by name. */
  readonly erased: ReadonlyMap<string, Blanks>;
}

/** The erased parts of a member. */
export interface Blanks {
  /** All of it. */
  readonly isWhole: boolean;
  /** Members of its own whose values are. */
  readonly names: ReadonlySet<string>;
  /** Members of its own whose names are, too, as they read now. */
  readonly nameless: ReadonlySet<string>;
}

const NOTHING: ReadonlyMap<string, Blanks> = new Map<string, Blanks>();

/** Reads an entry without verifying it, with its committed values where these are asked for; undefined where it cannot be read. */
export function openEntry(stored: StoredEntry, withValues: boolean): OpenEntry | undefined {
  const at = stampOf(stored);
  if (withValues) {
    const { metadata, origin } = readEntry(stored);
    return { stored, at, metadata, origin, erased: erasedIn(stored.disclosures) };
  }
  const payload = readJson(stored.payload);
  if (!isJsonObject(payload)) return undefined;
  const { metadata, origin } = payload;
  return isJsonObject(metadata) ? { stored, at, metadata, origin: isJsonObject(origin) ? origin : undefined, erased: NOTHING } : undefined;
}

/** The stamp of an entry, in milliseconds; 0, long before any wrong clock, where that is no time. */
export function stampOf(stored: Pick<StoredEntry, 'timestamp'>): number {
  return isStamped(stored) ? Date.parse(stored.timestamp) : 0;
}

/** Whether an entry is stamped with a time. */
export function isStamped({ timestamp }: Pick<StoredEntry, 'timestamp'>): boolean {
  return TIMESTAMP.test(timestamp) && !Number.isNaN(Date.parse(timestamp));
}

/** A time in an entry, in milliseconds; undefined for anything else. */
export function timeIn(value: JsonValue | undefined): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isNaN(time) ? undefined : time;
}

export function isTexts(value: JsonValue | undefined): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

export function text(metadata: JsonObject, name: string): string | undefined {
  const member = metadata[name];
  return typeof member === 'string' ? member : undefined;
}

export function number(metadata: JsonObject, name: string): number | undefined {
  const member = metadata[name];
  return typeof member === 'number' ? member : undefined;
}

function erasedIn(disclosures: string): ReadonlyMap<string, Blanks> {
  // Most entries have lost nothing, and the text says so at once.
  if (!disclosures.includes('"erased"')) return NOTHING;
  const listed = readJson(disclosures);
  const all = new Map<string, { isWhole: boolean; names: Set<string>; nameless: Set<string> }>();
  for (const disclosure of Array.isArray(listed) ? listed : []) {
    if (!isJsonObject(disclosure) || disclosure['erased'] !== true || typeof disclosure['pointer'] !== 'string') continue;
    const [container, name, key] = pointerSteps(disclosure['pointer']) ?? [];
    if (container !== 'metadata' || name === undefined) continue;
    const blanks = getOrInsert(all, name, () => ({ isWhole: false, names: new Set<string>(), nameless: new Set<string>() }));
    if (key === undefined) blanks.isWhole = true;
    else (isErasedName(key) ? blanks.nameless : blanks.names).add(key);
  }
  return all;
}
