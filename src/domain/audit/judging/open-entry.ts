import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';
import { pointerSteps } from '../pointer.js';
import { readEntry } from '../read-entry.js';
import type { StoredEntry } from '../stored-entry.js';

/** An entry as those who judge the log read it. */
export interface OpenEntry {
  readonly stored: StoredEntry;
  /** Stamped time, in milliseconds. */
  readonly at: number;
  readonly metadata: JsonObject;
  readonly origin: JsonObject | undefined;
  /** Members of which something is erased. */
  readonly erased: ReadonlySet<string>;
}

const NOTHING: ReadonlySet<string> = new Set<string>();

/**
 * Reads an entry without verifying it; undefined where it cannot be read, which the pass over the chains says.
 *
 * @param withValues whether committed values are put back: left out where only plain members are asked for
 */
export function openEntry(stored: StoredEntry, withValues: boolean): OpenEntry | undefined {
  const at = Date.parse(stored.timestamp);
  if (withValues) {
    const { metadata, origin } = readEntry(stored);
    return { stored, at, metadata, origin, erased: erasedIn(stored.disclosures) };
  }
  const payload = parsed(stored.payload);
  if (!isJsonObject(payload)) return undefined;
  const { metadata, origin } = payload;
  return isJsonObject(metadata) ? { stored, at, metadata, origin: isJsonObject(origin) ? origin : undefined, erased: NOTHING } : undefined;
}

export function text(metadata: JsonObject, name: string): string | undefined {
  const member = metadata[name];
  return typeof member === 'string' ? member : undefined;
}

export function number(metadata: JsonObject, name: string): number | undefined {
  const member = metadata[name];
  return typeof member === 'number' ? member : undefined;
}

function erasedIn(disclosures: string): ReadonlySet<string> {
  // Most entries have lost nothing, and the text says so at once.
  if (!disclosures.includes('"erased"')) return NOTHING;
  const listed = parsed(disclosures);
  const names = new Set<string>();
  for (const disclosure of Array.isArray(listed) ? listed : []) {
    if (!isJsonObject(disclosure) || disclosure['erased'] !== true || typeof disclosure['pointer'] !== 'string') continue;
    const [place, name] = pointerSteps(disclosure['pointer']) ?? [];
    if (place === 'metadata' && name !== undefined) names.add(name);
  }
  return names;
}

function parsed(content: string): JsonValue | undefined {
  try {
    return JSON.parse(content) as JsonValue;
  } catch {
    return undefined;
  }
}
