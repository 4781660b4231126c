import type { ChainRef } from '../entry/chain.js';
import type { StoredCheckpoint, TreeHead } from '../notes/checkpoint.js';
import type { StoredEntry, StoredHead, StoredLeaf } from '../entry/stored-entry.js';
import type { MapContent, MapKey } from '../tree/stored-map-nodes.js';
import type { OrganizationHead } from '../tree/organization-map.js';

/** A node of the map as its row has it: at depth 256 a leaf, with its organization's head. */
export interface ShownMapNode extends MapKey {
  readonly hash: Uint8Array;
  readonly organization: string | null;
  readonly size: number | null;
  /** Base64. */
  readonly root: string | null;
}

/** A key that signs checkpoints, between two sizes of the platform's tree. */
export interface ShownKey {
  /** Verifier key, C2SP signed-note form. */
  readonly key: string;
  readonly fromSize: number;
  /** The last size that it has signed; absent while it signs. */
  readonly retiredAtSize?: number;
  /** By which the key before vouches for it. */
  readonly note?: string;
}

/** How far a tree has been integrated. */
export interface ShownTree extends TreeHead {
  /** An organization's id, or `platform`. */
  readonly tree: string;
}

/** Where a retention run ended a chain: the first survivor goes on from here. */
export interface CutPointRow extends StoredLeaf {
  /** Entries of the chain that are gone for good in this organization, by this retention run and those before it. */
  readonly count: number;
  readonly sweepEntryId: string;
  /** The signature of that entry. */
  readonly note: string | null;
  /** What the retention run's entry says that it rests on; roots in base64. Believed only once that entry was found sound. */
  readonly checkpoint: TreeHead & { readonly platformSize: number; readonly platformRoot: string };
  /** Whether the retention run has ended: until then, what it cut off may still be there. */
  readonly isDone: boolean;
}

/** When the checkpoints of one leaf of the platform's tree were made, as their rows say; of each time that they say, one of them. */
export interface CheckpointTime {
  /** An organization's id, or `platform`. */
  readonly tree: string;
  readonly platformSize: number;
  /** ISO 8601, UTC, with milliseconds. */
  readonly madeAt: string;
}

/** What an anchor says is the newest checkpoint that it has of the platform's tree. */
export interface ShownAnchor extends TreeHead {
  readonly name: string;
  readonly note: string;
}

/** An agent's chain that goes through several organizations. */
export interface SharedChain {
  readonly chain: string;
  readonly organizations: readonly string[];
}

/** What is known of the log before its entries are read. */
export interface LogHeader {
  readonly instance: string;
  /** Those that are believed, oldest first. */
  readonly keys: readonly ShownKey[];
  /** All that are kept, where only some are believed. */
  readonly keptKeys?: readonly ShownKey[];
  /** Of those that are believed the ones that have to be announced under a checkpoint of another one of them. */
  readonly keysBefore?: readonly string[];
  /** The platform's among them, where it has grown. */
  readonly trees: readonly ShownTree[];
  /** Of every chain that was cut, the last one. */
  readonly cutPoints: readonly CutPointRow[];
  /** Of each retention run whose row cannot be read in all that it should say, its organization. */
  readonly unreadable?: readonly string[];
  /** Every organization that has a chain, a tree or something in the queue, or was asked for by name, sorted. */
  readonly organizations: readonly string[];
  /** Parts of the log of about the same size, each with whole chains; together they are everything. */
  readonly ranges: readonly EntryRange[];
  /** Agents' chains of which more than one organization has a head: where every organization is shown. */
  readonly shared?: readonly SharedChain[];
  /** How many entries the heads speak of: for showing progress. */
  readonly total: number;
}

/** Chains from one on (inclusive) to another (exclusive), in the order of organization and name by code point. */
export interface EntryRange {
  readonly from?: ChainRef;
  readonly to?: ChainRef;
  /** Only these chains. */
  readonly chains?: readonly string[];
  readonly organizations?: readonly string[];
}

export interface EntryStreams {
  readonly heads: AsyncIterable<readonly StoredHead[]>;
  readonly entries: AsyncIterable<readonly StoredEntry[]>;
}

/** Leaves that stand side by side in a tree, from `from` on. */
export interface LeafRun {
  readonly from: number;
  readonly leaves: readonly Pick<StoredLeaf, 'chain' | 'seq' | 'hash'>[];
}

/** A log with its trees at one moment, in batches. Entries and heads come by organization, chain (both by code point) and position. */
export interface LogSource {
  /** Whether it shows every organization: only then can the map be computed anew, and both halves of a transfer be asked for. */
  readonly whole: boolean;
  /** With an agent: of the organizations alone in which something of its chain is. */
  header(agentId?: string): Promise<LogHeader>;
  read(range: EntryRange): EntryStreams;
  /** In the order of the tree. */
  leaves(organizationId: string): AsyncIterable<LeafRun>;
  /** Leaves that no tree has taken yet; of these organizations, or of all that are shown. */
  queued(organizations?: readonly string[]): AsyncIterable<readonly StoredLeaf[]>;
  /** Of tree and queue together, by chain and position; of these chains alone where some are named. */
  sorted(organizationId: string, chains?: readonly string[]): AsyncIterable<readonly StoredLeaf[]>;
  /** Texts of the platform tree's leaves, in order. */
  platformLeaves(): AsyncIterable<{ readonly from: number; readonly texts: readonly string[] }>;
  /** By size, rising. */
  checkpoints(tree: string): AsyncIterable<readonly StoredCheckpoint[]>;
  /** Of all trees that are shown, by the size of the platform's tree, rising. */
  checkpointTimes(): AsyncIterable<readonly CheckpointTime[]>;
  /** Signatures of these entries of erasures, by the entries' ids, as far as they are there. */
  erasureNotes(organizationId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Every node of the map before those below it and left before right; leaves by the key that their organization should have. */
  mapNodes(): AsyncIterable<readonly ShownMapNode[]>;
  /** Of one organization; undefined while it is not in the map. */
  mapHead(organizationId: string): Promise<OrganizationHead | undefined>;
  /** Payloads of the installation's recoveries, for a verification that does not read their chain. */
  recoveries(): Promise<readonly string[]>;
  mapContents(keys: readonly MapKey[]): Promise<readonly MapContent[]>;
}
