import { isJsonObject, type JsonObject } from '../../json.js';
import { jcs } from '../entry/jcs.js';
import { parseCanonical } from '../entry/payload.js';
import type { NextKey } from '../notes/key-succession.js';
import type { TreeHead } from '../notes/checkpoint.js';
import type { StoredEntry } from '../entry/stored-entry.js';

// Exports and archives, format version 1: one RFC 8785 object a line. Hashes of entries are hex, hashes of trees base64; times are
// ISO 8601 in UTC with milliseconds.

type EntryPosition = Pick<StoredEntry, 'organizationId' | 'chain' | 'seq'>;

/** How a leaf stands in a tree: the hashes beside its path, in base64, from the leaf upwards. */
export interface TreePath {
  readonly index: number;
  readonly size: number;
  readonly hashes: readonly string[];
}

/** Each kind of line with its members. */
interface Kinds {
  /** The first line: the file's claims. `all`: its organizations are all that there are. `keys` have to be vouched for. */
  export: {
    readonly v: 1;
    readonly what: 'log' | 'person' | 'archive';
    readonly instance: string;
    readonly organizations: readonly string[];
    readonly all?: true | undefined;
    readonly madeAt: string;
    readonly from?: string | null | undefined;
    readonly to?: string | null | undefined;
    readonly agentId?: string | null | undefined;
    readonly userId?: string | null | undefined;
    readonly keys: readonly string[];
    /** Of each key behind the first: the note by which the one before vouches for it. */
    readonly keyNotes?: readonly string[] | undefined;
  };
  checkpoint: { readonly note: string };
  /** That an organization's tree head stands in the platform's tree; of size 0, that none of it does. */
  map: TreeHead & {
    readonly organizationId: string;
    /** Nodes beside the path: the depth in which they part, and their hash. */
    readonly siblings: readonly (readonly [depth: number, hash: string])[];
    readonly timestamp: string;
    readonly platform: TreePath;
  };
  /** Opens the entries of one organization, in the order of its tree. `size` is that of its checkpoint. */
  section: { readonly organizationId: string; readonly size: number; readonly chains: number };
  /** An entry as stored. `index` is that in the tree, null while it is queued. Archives keep disclosures apart. */
  entry: Omit<StoredEntry, 'disclosures'> & { readonly index: number | null; readonly disclosures?: string | undefined };
  /** Leaves [from, to) that the file does not hold: the roots of the largest aligned subtrees over them, left to right. */
  gap: { readonly from: number; readonly to: number; readonly because: 'swept' | 'range' | 'hidden'; readonly nodes: readonly string[] };
  /** Where a chain ends. */
  head: EntryPosition & { readonly hash: string | null; readonly closed: boolean };
  /** A cut point, and its run's entry about it: `count` entries are gone; `sweepIndex` is null while that entry is not covered. */
  seam: EntryPosition & {
    readonly hash: string;
    readonly count: number;
    readonly sweepEntryId: string;
    readonly sweepIndex: number | null;
    readonly checkpoint: TreeHead;
  };
  /** The signature of the entry of a retention run whose cut points are shown. */
  sweep: { readonly organizationId: string; readonly entryId: string; readonly note: string };
  /** The signature of the next line's entry, which is one of an erasure. */
  erasure: { readonly note: string };
  /** That a tree of `to` leaves continues that of `from`; `organizationId` may be `platform`. */
  consistency: { readonly organizationId: string; readonly from: number; readonly to: number; readonly hashes: readonly string[] };
  /** Where the entry of the line before stands in its organization's tree. */
  inclusion: TreePath;
  /** What is known of a person; vouched for by the manifest only. */
  profile: { readonly profile: JsonObject };
  /** What else belongs to a person; vouched for by the manifest only. */
  records: { readonly records: JsonObject };
  /** An archived entry's values. */
  disclosures: { readonly id: string; readonly hash: string; readonly text: string };
  /** The last line: SHA-256 of all bytes before it, signed. */
  manifest: {
    readonly counts: { readonly lines: number; readonly entries: number; readonly chains: number; readonly withheld: number };
    readonly sha256: string;
    readonly note: string;
  };
}

export type LineKind = keyof Kinds;
export type LineMembers<K extends LineKind> = Kinds[K];
export type LineOf<K extends LineKind> = LineMembers<K> & { readonly kind: K };
export type ExportLine = { [K in LineKind]: LineOf<K> }[LineKind];

/** Makes a line; a missing or a wrong member does not compile. */
export function line<K extends LineKind>(kind: K, members: LineMembers<K>): LineOf<K> {
  return { ...members, kind };
}

/** The keys of a file, and that each has vouched for the next. */
export function keyMembers(named: readonly NextKey[]): { readonly keys: readonly string[]; readonly keyNotes?: readonly string[] } {
  const keys = named.map(({ key: one }) => one);
  return keys.length < 2 ? { keys } : { keys, keyNotes: named.slice(1).map(({ note }) => note ?? '') };
}

export function entryLine(entry: StoredEntry, index: number | null): LineOf<'entry'> {
  return { ...skeletonLine(entry, index), disclosures: entry.disclosures };
}

/** An entry without its values, as archives keep it for ever. */
export function skeletonLine(entry: StoredEntry, index: number | null): LineOf<'entry'> {
  const { organizationId, chain, seq, id, event, agentId, actorId, capability, outcome, timestamp: time, payload, prevHash, hash } = entry;
  return {
    kind: 'entry', index, organizationId, chain, seq, id, event, agentId, actorId, capability, outcome, timestamp: time, payload,
    prevHash, hash,
  };
}

/** The entry that a line holds; the values stand elsewhere for a line of an archive. */
export function entryOf(from: LineOf<'entry'>, disclosures = from.disclosures ?? '[]'): StoredEntry {
  const { kind: _kind, index: _index, ...entry } = from;
  return { ...entry, disclosures };
}

/** The bytes of a line: canonical JSON and a newline. What is undefined is left out. */
export function lineText(one: ExportLine): string {
  return `${jcs(Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined)))}\n`;
}

/** Reads a line without its newline; undefined for what is no canonical object with a kind. Its members are for the reader to check. */
export function readLine(from: string): ExportLine | undefined {
  const parsed = parseCanonical(from);
  return isJsonObject(parsed) && typeof parsed['kind'] === 'string' ? (parsed as unknown as ExportLine) : undefined;
}

type ManifestClaim = Pick<Kinds['export'], 'instance' | 'madeAt'> & Pick<Kinds['manifest'], 'sha256'> & { readonly entries: number };

/** The text of a manifest's note. Its fourth line keeps it from being taken for a checkpoint of a tree. */
export function manifestText({ instance, entries, sha256, madeAt }: ManifestClaim): string {
  return `${instance}/export\n${entries}\n${Buffer.from(sha256, 'hex').toString('base64')}\n${madeAt}\n`;
}
