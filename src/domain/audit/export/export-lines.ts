import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';
import { jcs } from '../entry/jcs.js';
import { parseCanonical } from '../entry/payload.js';
import type { NextKey } from '../notes/key-succession.js';
import { readVerifierKey } from '../notes/note.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import { readHash } from '../tree/rfc6962.js';

// Exports and archives, format version 1: one RFC 8785 object a line. A kind and its members stand once, here, for the writer
// and for the reader. Hashes of entries are hex, hashes of trees base64.

/** Decides whether a value may stand there; its type says what it then is. */
interface Form<T> {
  (value: JsonValue): boolean;
  /** Carries the type; never there at run time. */
  readonly type?: T;
}

const text: Form<string> = (value) => typeof value === 'string';
const flag: Form<boolean> = (value) => typeof value === 'boolean';
const count: Form<number> = (value) => Number.isSafeInteger(value) && (value as number) >= 0 && !Object.is(value, -0);
const hex: Form<string> = (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
const treeHash: Form<string> = (value) => typeof value === 'string' && readHash(value) !== undefined;
const timestamp: Form<string> = (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);
const key: Form<string> = (value) => typeof value === 'string' && readVerifierKey(value) !== undefined;
const object: Form<JsonObject> = isJsonObject;
const exactly = <const T extends JsonValue>(...allowed: readonly T[]): Form<T> => (value) =>
  (allowed as readonly JsonValue[]).includes(value);
const nullable = <T>(form: Form<T>): Form<T | null> => (value) => value === null || form(value);
const list = <T>(form: Form<T>): Form<readonly T[]> => (value) => Array.isArray(value) && value.every(form);

type Forms = Readonly<Record<string, Form<unknown> & { readonly optional?: true }>>;
type TypeOf<F> = F extends Form<infer T> ? T : never;
type OptionalNames<F extends Forms> = { [K in keyof F]: F[K] extends { readonly optional: true } ? K : never }[keyof F];
type Shape<F extends Forms> = { readonly [K in Exclude<keyof F, OptionalNames<F>>]: TypeOf<F[K]> } & {
  readonly [K in OptionalNames<F>]?: TypeOf<F[K]> | undefined;
};

/** May be left out; then it is not there at all. */
const optional = <T>(form: Form<T>): Form<T> & { readonly optional: true } =>
  Object.assign((value: JsonValue) => form(value), { optional: true as const });

/** An object with exactly these members. */
const shape = <F extends Forms>(forms: F): Form<Shape<F>> => (value) =>
  isJsonObject(value) &&
  Object.keys(value).every((name) => Object.hasOwn(forms, name)) &&
  Object.entries(forms).every(([name, form]) => (Object.hasOwn(value, name) ? form(value[name]!) : form.optional === true));

/** A node beside a path of the map: the depth in which they part, and its hash. */
const sibling: Form<readonly [depth: number, hash: string]> = (value) =>
  Array.isArray(value) && value.length === 2 && count(value[0]!) && (value[0] as number) < 256 && treeHash(value[1]!);

const treePath = { index: count, size: count, hashes: list(treeHash) };
const placeOfEntry = { organizationId: text, chain: text, seq: count };

const KINDS = {
  /**
   * The first line: what the file claims to be. `all` stands where its organizations are all that there are. `keys` are claims too,
   * until someone vouches for them.
   */
  export: {
    v: exactly(1), what: exactly('log', 'person', 'archive'), instance: text, organizations: list(text), all: optional(exactly(true)),
    madeAt: timestamp,
    from: optional(nullable(timestamp)), to: optional(nullable(timestamp)), agentId: optional(nullable(text)),
    userId: optional(nullable(text)), keys: list(key),
    /** Of each key behind the first: the note by which the one before vouches for it. */
    keyNotes: optional(list(text)),
  },
  /** A signed checkpoint of a tree. */
  checkpoint: { note: text },
  /** That an organization's tree head stands in the platform's tree; of size 0, that none of it does. */
  map: {
    organizationId: text, size: count, root: treeHash, siblings: list(sibling), timestamp, platform: shape(treePath),
  },
  /** Opens the entries of one organization, in the order of its tree. `size` is that of its checkpoint. */
  section: { organizationId: text, size: count, chains: count },
  /**
   * An entry as it is stored, payload and disclosures as texts. `index` is its place in the tree, null while it is queued.
   * Archives keep disclosures apart. What was tampered with must still be readable: the checks of an entry judge its values.
   */
  entry: {
    index: nullable(count), ...placeOfEntry, id: text, event: text, agentId: nullable(text), actorId: text, capability: nullable(text),
    outcome: nullable(text), timestamp: text, payload: text, disclosures: optional(text), prevHash: nullable(text), hash: text,
  },
  /** Leaves [from, to) that the file does not hold: the roots of the largest aligned subtrees over them, left to right. */
  gap: { from: count, to: count, because: exactly('swept', 'range', 'hidden'), nodes: list(treeHash) },
  /** Where a chain ends. */
  head: { ...placeOfEntry, hash: nullable(text), closed: flag },
  /**
   * Where a chain was cut by retention, and the sweep's entry that says so. `count` is how many of its entries are gone for good;
   * `sweepIndex` is null while the sweep's entry is not under the checkpoint.
   */
  seam: {
    ...placeOfEntry, hash: hex, count, sweepEntryId: text, sweepIndex: nullable(count),
    checkpoint: shape({ size: count, root: treeHash }),
  },
  /** By which whoever swept has signed what an entry of a sweep says; of those whose seams are shown. */
  sweep: { organizationId: text, entryId: text, note: text },
  /** By which whoever erased has signed what the entry of the next line says, which is one of an erasure. */
  erasure: { note: text },
  /** That a tree of `to` leaves continues that of `from`; `organizationId` may be `platform`. */
  consistency: { organizationId: text, from: count, to: count, hashes: list(treeHash) },
  /** Where the entry of the line before stands in its organization's tree. */
  inclusion: treePath,
  /** What is known of a person; vouched for by the manifest only. */
  profile: { profile: object },
  /** What else belongs to a person; vouched for by the manifest only. */
  records: { records: object },
  /** An archived entry's values. */
  disclosures: { id: text, hash: text, text },
  /** The last line: SHA-256 of all bytes before it, signed. */
  manifest: { counts: shape({ lines: count, entries: count, chains: count, withheld: count }), sha256: hex, note: text },
} satisfies Record<string, Forms>;

export type LineKind = keyof typeof KINDS;
export type LineMembers<K extends LineKind> = Shape<(typeof KINDS)[K]>;
export type LineOf<K extends LineKind> = LineMembers<K> & { readonly kind: K };
/** One line of an export or an archive. */
export type ExportLine = { [K in LineKind]: LineOf<K> }[LineKind];

/** What stands in an archive's `manifest.json`, beside its skeleton and its disclosures. */
export interface ArchiveManifest {
  readonly v: 1;
  readonly sweepId: string;
  readonly chains: readonly { readonly chain: string; readonly seq: number; readonly hash: string; readonly count: number }[];
  readonly skeleton: ArchivedObject;
  readonly disclosures: ArchivedObject;
  readonly note: string;
}

/** Hex SHA-256 and length of the uncompressed bytes. */
export interface ArchivedObject {
  readonly sha256: string;
  readonly bytes: number;
}

/** Makes a line; a missing or a wrong member does not compile. */
export function line<K extends LineKind>(kind: K, members: LineMembers<K>): LineOf<K> {
  return { ...members, kind };
}

/** The keys of a file, and that each has vouched for the next. */
export function keyMembers(named: readonly NextKey[]): { readonly keys: readonly string[]; readonly keyNotes?: readonly string[] } {
  const keys = named.map(({ key: one }) => one);
  return keys.length < 2 ? { keys } : { keys, keyNotes: named.slice(1).map(({ note }) => note ?? '') };
}

/** An entry with its values. */
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

/**
 * Reads a line without its newline, strictly: canonical JSON, a known kind, exactly its members, each in its form. Otherwise
 * a sentence that says what is wrong.
 */
export function readLine(from: string): ExportLine | string {
  const parsed = parseCanonical(from);
  if (!isJsonObject(parsed)) return 'the line is not an object in canonical JSON';
  const { kind, ...members } = parsed;
  if (typeof kind !== 'string' || !Object.hasOwn(KINDS, kind)) return 'the line is of no known kind';
  const forms: Forms = KINDS[kind as LineKind];
  for (const name of Object.keys(members)) if (!Object.hasOwn(forms, name)) return `a line of kind ${kind} has no member ${name}`;
  for (const [name, form] of Object.entries(forms)) {
    if (!Object.hasOwn(members, name)) {
      if (form.optional !== true) return `the line of kind ${kind} lacks ${name}`;
    } else if (!form(members[name]!)) return `the line of kind ${kind} has a wrong ${name}`;
  }
  return parsed as unknown as ExportLine;
}

/** What a manifest signs: how many entries there are, and the digest (hex) of all bytes before it. */
export interface ManifestClaim {
  readonly instance: string;
  readonly entries: number;
  readonly sha256: string;
  readonly madeAt: string;
}

/** The text of a manifest's note. Its fourth line keeps it from being taken for a checkpoint of a tree. */
export function manifestText({ instance, entries, sha256, madeAt }: ManifestClaim): string {
  return `${instance}/export\n${entries}\n${Buffer.from(sha256, 'hex').toString('base64')}\n${madeAt}\n`;
}
