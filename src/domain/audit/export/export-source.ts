import type { AuthorizedOperation } from '../notes/authorization-note.js';
import type { StoredCheckpoint } from '../notes/checkpoint.js';
import type { LineMembers } from './export-lines.js';
import type { NextKey } from '../notes/key-succession.js';
import type { IndexedLeaf, StoredEntry, StoredHead } from '../entry/stored-entry.js';
import type { HashReader } from '../tree/hash-reader.js';

/** Names an entry within an organization. */
export type EntryPosition = Pick<StoredEntry, 'chain' | 'seq'>;

export interface ExportedHead extends StoredHead {
  /** Whether the chain goes on elsewhere: its agent has left this organization. */
  readonly closed: boolean;
}

/** An entry that concerns a person, and pointers to what in it is theirs (RFC 6901). */
export interface PersonsEntry extends EntryPosition {
  readonly pointers: readonly string[];
}

/** Where an export is read from: everything of one moment, in batches, so that no more than a batch is in memory. */
export interface ExportSource {
  readonly instance: string;
  /** Keys that have signed for this installation, oldest first. */
  keys(): Promise<readonly NextKey[]>;
  /** The newest checkpoint of a tree: an organization's, or `platform`. */
  checkpoint(tree: string): Promise<StoredCheckpoint | undefined>;
  checkpointOfSize(tree: string, size: number): Promise<StoredCheckpoint | undefined>;
  /** Leads from the organization's newest checkpoint to the platform's; where it has none yet, shows that under the platform's. */
  map(organizationId: string): Promise<LineMembers<'map'> | undefined>;
  /** For one proof: it keeps what it has read. */
  reader(tree: string, size: number): HashReader;
  /** Leaves [from, to), in the order of the tree. */
  leaves(organizationId: string, from: number, to: number): AsyncIterable<readonly IndexedLeaf[]>;
  /** What follows behind the first `size` leaves: integrated since, then queued; each chain in its order. */
  pending(organizationId: string, size: number): AsyncIterable<readonly EntryPosition[]>;
  /** In the order asked for; undefined for one that is not there. */
  entries(organizationId: string, positions: readonly EntryPosition[]): Promise<readonly (StoredEntry | undefined)[]>;
  heads(organizationId: string, chain?: string): AsyncIterable<readonly ExportedHead[]>;
  countHeads(organizationId: string, chain?: string): Promise<number>;
  /** Entries behind the ends of their chains, which nobody appended. */
  strays(organizationId: string, chain?: string): AsyncIterable<readonly StoredEntry[]>;
  /** Entries of one type, in the order in which they were made. */
  ofEvent(organizationId: string, event: string): AsyncIterable<readonly StoredEntry[]>;
  /** Notes that were signed over entries of retention runs or erasures, by these ids. */
  notes(operation: AuthorizedOperation, organizationId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The entry's index in its organization's tree; undefined while it is queued. */
  indexOf(entry: StoredEntry): Promise<number | undefined>;
  /** Leaves [first, end) among the first `size`, from the first entry at `from` or later to the last at `to` or earlier. */
  window(organizationId: string, size: number, from?: string, to?: string): Promise<readonly [first: number, end: number]>;
  /** What concerns a person, by chain and position. */
  about(organizationId: string, userId: string): AsyncIterable<readonly PersonsEntry[]>;
}
