import type { StoredEntry } from '../entry/stored-entry.js';

export const FINDING_KINDS = [
  'edited', 'deleted', 'inserted', 'reordered', 'truncated', 'chain_removed', 'forked', 'column_mismatch', 'unauthorised_erasure',
  'checkpoint_invalid', 'archive_altered', 'tree_mismatch', 'incomplete', 'gate_wrong',
] as const;

export type FindingKind = (typeof FINDING_KINDS)[number];

/** How many are kept and shown: a log rewritten from its beginning would break at every entry. */
export const MAX_FINDINGS = 1_000;

/** Something in the log that is not what was written. */
export interface Finding {
  /** Or what has no chain: an organization's id for its tree, or `platform`. */
  readonly chain: string;
  /** `seq` within the chain; in a tree the number of a leaf, or a size. */
  readonly position: number;
  /** Null where the entry is gone. */
  readonly entryId: string | null;
  readonly kind: FindingKind;
  /** A sentence for people. */
  readonly detail: string;
}

/** How many findings there are, and some of them; in a form that crosses threads. */
export interface FindingList {
  readonly listed: readonly Finding[];
  readonly found: number;
}

/** Keeps the first `MAX_FINDINGS`, where findings of a tree or a gap go before those of one entry. */
export class Findings implements FindingList {
  readonly listed: Finding[] = [];
  found = 0;

  /** @param found how many there are, where `some` are not all */
  add(some: Iterable<Finding>, found?: number): void {
    let count = 0;
    for (const one of some) {
      count++;
      if (this.listed.length >= MAX_FINDINGS && !this.makeRoomFor(one)) continue;
      this.listed.push(one);
    }
    this.found += found ?? count;
  }

  addAll({ listed, found }: FindingList): void {
    this.add(listed, found);
  }

  private makeRoomFor({ entryId }: Finding): boolean {
    const last = entryId === null ? this.listed.findLastIndex((listed) => listed.entryId !== null) : -1;
    if (last >= 0) this.listed.splice(last, 1);
    return last >= 0;
  }
}

export function findingAt(entry: Pick<StoredEntry, 'chain' | 'seq' | 'id'>, kind: FindingKind, what: string): Finding {
  const { chain, seq, id } = entry;
  return { chain, position: seq, entryId: id, kind, detail: `entry ${seq} of chain ${chain} ${what}` };
}

/** Names a run of missing entries. */
export function missingEntries(chain: string, from: number, to: number, kind: FindingKind, what: string): Finding {
  const which = from === to ? `entry ${from} of chain ${chain} is` : `entries ${from} to ${to} of chain ${chain} are`;
  return { chain, position: from, entryId: null, kind, detail: `${which} missing: ${what}` };
}

/** What is wrong with a tree, `platform` or an organization's. */
export function findingInTree(tree: string, position: number, kind: FindingKind, what: string): Finding {
  const whose = tree === 'platform' ? "the platform's tree" : `the tree of ${tree}`;
  return { chain: tree, position, entryId: null, kind, detail: `${whose} ${what}` };
}
