import type { ChainRef } from './chain.js';

/** One row of the log as it is stored. `seq` counts 1, 2, 3 … within the chain. */
export interface StoredEntry extends ChainRef {
  readonly seq: number;
  readonly id: string;
  readonly event: string;
  readonly agentId: string | null;
  readonly actorId: string;
  readonly capability: string | null;
  readonly outcome: string | null;
  readonly timestamp: string;
  readonly payload: string;
  readonly disclosures: string;
  readonly prevHash: string | null;
  readonly hash: string;
}

/** Where a chain ends: number and hash of its last entry. A chain that has no entry yet has `seq` 0. */
export interface StoredHead extends ChainRef {
  readonly seq: number;
  readonly hash: string | null;
  /** Whether the agent has left: then its last entry here is `agent.transferred`, out. Absent where that is not known. */
  readonly closed?: boolean;
}

/** One entry as its organization's tree, or the queue before it, knows it. */
export type StoredLeaf = Pick<StoredEntry, 'organizationId' | 'chain' | 'seq' | 'hash'>;

/** A leaf of an organization's tree, with its index there, from 0. */
export type IndexedLeaf = Omit<StoredLeaf, 'organizationId'> & { readonly index: number };
