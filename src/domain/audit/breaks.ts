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

/** How many are kept and shown: a log rewritten from its beginning would break at every entry. */
export const MAX_BREAKS = 1_000;

/** One place where the log is not what was written. */
export interface Break {
  /** Or what has no chain: an organization's id for its tree, or `platform`. */
  readonly chain: string;
  /** `seq` within the chain; in a tree the number of a leaf, or a size. */
  readonly position: number;
  /** Null where the entry is gone. */
  readonly entryId: string | null;
  readonly kind: BreakKind;
  /** A sentence for people. */
  readonly detail: string;
}

/** How many there are, and `MAX_BREAKS` of them: the first, where what a tree or a gap shows goes before what one entry shows. */
export class Breaks {
  readonly listed: Break[] = [];
  found = 0;

  /** @param found how many there are, where `some` are not all */
  add(some: Iterable<Break>, found?: number): void {
    let count = 0;
    for (const one of some) {
      count++;
      if (this.listed.length >= MAX_BREAKS && !this.makeRoomFor(one)) continue;
      this.listed.push(one);
    }
    this.found += found ?? count;
  }

  private makeRoomFor({ entryId }: Break): boolean {
    const last = entryId === null ? this.listed.findLastIndex((listed) => listed.entryId !== null) : -1;
    if (last >= 0) this.listed.splice(last, 1);
    return last >= 0;
  }
}

export function breakAt(entry: Pick<StoredEntry, 'chain' | 'seq' | 'id'>, kind: BreakKind, what: string): Break {
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

/** What is wrong with a tree, `platform` or an organization's. */
export function inTree(tree: string, position: number, kind: BreakKind, what: string): Break {
  const whose = tree === 'platform' ? "the platform's tree" : `the tree of ${tree}`;
  return { chain: tree, position, entryId: null, kind, detail: `${whose} ${what}` };
}
