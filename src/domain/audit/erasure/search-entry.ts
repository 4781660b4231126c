import { isId } from '../../ids.js';
import type { JsonValue } from '../../json.js';
import type { Disclosure } from '../entry/commitments.js';
import { blanksIn, eraseIn, findIn } from './erase-disclosures.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import type { TextMatcher } from './text-matcher.js';

/** What of an entry an erasure looks at. */
export interface SearchedEntry extends Pick<StoredEntry, 'id' | 'event' | 'hash' | 'disclosures'> {
  /** Where the entry holds data of the user who is erased (RFC 6901, as `audit_subjects` keeps them). */
  readonly pointers: readonly string[];
}

/** As an erasure's entry lists it: entry hash, and digests of the value and of its blank's pointer. */
export type ListedBlank = readonly [hash: string, d: string, pointer: string];

/** What an erasure does to one entry. */
export interface Blanking {
  readonly id: string;
  readonly before: string;
  readonly after: string;
  /** What the erasure's own entry has to list: each value that is blank now, or whose name has gone. */
  readonly listed: readonly ListedBlank[];
  /** How many values, and names of members, a text was met in that are not at the user's pointers: these may be somebody else's. */
  readonly byText: number;
  readonly isDecision: boolean;
}

const DECISIONS: ReadonlySet<string> = new Set([
  'hitl.approved', 'hitl.rejected', 'hitl.voted', 'hitl.edited', 'hitl.escalated', 'hitl.cancelled', 'hitl.timed_out',
]);

/** What lists erased values is never erased itself: without it every blank that it accounts for would be tampering. */
const NEVER_ERASED = 'gdpr.erasure_executed';

/**
 * Blanks the texts in an entry, and the user's data at its pointers. A user's bare id stays: it says nothing once their account is blank.
 *
 * @returns undefined where there is nothing to blank
 * @throws SyntaxError or TypeError for disclosures that were tampered with
 */
export function blankingOf(entry: SearchedEntry, holds: TextMatcher): Blanking | undefined {
  const { id, event, hash, disclosures, pointers } = entry;
  if (event === NEVER_ERASED) return undefined;
  const { digests, erasedKeys } = findIn(disclosures, holds);
  const own = new Set(subjectsDigests(disclosures, pointers));
  const all = new Set([...digests, ...own]);
  if (all.size === 0 && erasedKeys.length === 0) return undefined;
  const after = eraseIn(disclosures, all, new Set(erasedKeys));
  const changed = new Set([...all, ...erasedKeys]);
  const listed = blanksIn(after).flatMap(([d, pointer]): ListedBlank[] => (changed.has(d) ? [[hash, d, pointer]] : []));
  const byText = [...new Set([...digests, ...erasedKeys])].filter((d) => !own.has(d)).length;
  return { id, before: disclosures, after, listed, byText, isDecision: DECISIONS.has(event) };
}

/** In the order in which an erasure's entry lists them. No entry has a value twice. */
export function sortedBlanks(listed: readonly ListedBlank[]): ListedBlank[] {
  return [...listed].sort(([a, x], [b, y]) => (a === b ? (x < y ? -1 : x > y ? 1 : 0) : a < b ? -1 : 1));
}

/** Texts at an entry's pointers that are known to be the user's: addresses, and what e-mail address and name once were. */
export function textsAt(disclosures: string, pointers: readonly string[]): string[] {
  return openAt(disclosures, pointers)
    .filter(({ pointer }) => TELLING.has(pointer))
    .map(({ value }) => JSON.parse(value!) as JsonValue)
    .filter((value) => typeof value === 'string');
}

const TELLING: ReadonlySet<string> = new Set(['/origin/address', '/metadata/email', '/metadata/name', '/metadata/avatarUrl']);

function subjectsDigests(disclosures: string, pointers: readonly string[]): string[] {
  return openAt(disclosures, pointers)
    .filter(({ value }) => !isId('usr', JSON.parse(value!)))
    .map(({ d }) => d);
}

function openAt(disclosures: string, pointers: readonly string[]): Disclosure[] {
  if (pointers.length === 0) return [];
  return (JSON.parse(disclosures) as Disclosure[]).filter(({ pointer, value }) => value !== undefined && pointers.includes(pointer));
}

/** Of one machine alone: these name nobody, and stand in every log. */
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|::)$/;

/** The texts to search for a person: addresses, and names of two words or more, since a single word is met in texts about others. */
export function searchedTexts(known: readonly (string | null)[]): string[] {
  const texts = known.filter((text) => text !== null).map((text) => text.trim());
  return [...new Set(texts.filter((text) => text !== '' && !LOOPBACK.test(text) && (/[@/.:]/.test(text) || /\S\s+\S/.test(text))))];
}
