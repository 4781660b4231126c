import type { StoredEntry } from './stored-entry.js';

export const BREAK_KINDS = [
  'edited',
  'deleted',
  'inserted',
  'reordered',
  'truncated',
  'chain_removed',
  'forked',
  'column_mismatch',
  'unauthorised_erasure',
  'checkpoint_invalid',
  'archive_altered',
  'tree_mismatch',
  'incomplete',
  'gate_wrong',
] as const;

export type BreakKind = (typeof BREAK_KINDS)[number];

/** One place where the log is not what was written. */
export interface Break {
  readonly chain: string;
  /** `seq` within the chain. */
  readonly position: number;
  /** Null where the entry is gone. */
  readonly entryId: string | null;
  readonly kind: BreakKind;
  /** A sentence for people. */
  readonly detail: string;
}

export function breakAt(entry: StoredEntry, kind: BreakKind, what: string): Break {
  return {
    chain: entry.chain,
    position: entry.seq,
    entryId: entry.id,
    kind,
    detail: `entry ${entry.seq} of chain ${entry.chain} ${what}`,
  };
}

/** Names a run of missing entries. */
export function missing(chain: string, from: number, to: number, kind: BreakKind, what: string): Break {
  const which = from === to ? `entry ${from} of chain ${chain} is` : `entries ${from} to ${to} of chain ${chain} are`;
  return { chain, position: from, entryId: null, kind, detail: `${which} missing: ${what}` };
}
