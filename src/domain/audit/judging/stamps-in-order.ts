import type { StoredEntry, StoredLeaf } from '../stored-entry.js';
import { type Moment, OVERLAP_MS } from './overlap.js';

/** Leaves of an organization in the order of its tree, and what is queued behind. */
export type OrderedLeaves = (organizationId: string) => AsyncIterable<readonly Pick<StoredLeaf, 'chain' | 'seq'>[]>;

interface Asked {
  readonly stored: StoredEntry;
  readonly at: number;
}

/**
 * How far an organization's own entries are stamped against the order of its tree, seen from each of these entries: what was committed
 * before one and is stamped well after it, what was committed after it and is stamped well before. Then some server's clock was wrong.
 *
 * @param stampOf when an entry was made; undefined of those that do not matter
 * @returns by the entry's id; nothing for one that is in no tree
 */
export async function momentsInOrder(
  asked: readonly Asked[], stampOf: (leaf: Pick<StoredLeaf, 'chain' | 'seq'>) => number | undefined,
  leaves: AsyncIterable<readonly Pick<StoredLeaf, 'chain' | 'seq'>[]>,
): Promise<Map<string, Moment>> {
  const wanted = new Map(asked.map((one) => [`${one.stored.chain} ${one.stored.seq}`, one]));
  const inOrder: (number | Asked)[] = [];
  for await (const batch of leaves) {
    for (const leaf of batch) {
      const one = stampOf(leaf) ?? wanted.get(`${leaf.chain} ${leaf.seq}`);
      if (one !== undefined) inOrder.push(one);
    }
  }
  const latest = new Map<string, number>();
  let newest = -Infinity;
  for (const one of inOrder) {
    if (typeof one === 'number') newest = Math.max(newest, one);
    else latest.set(one.stored.id, newest > one.at + OVERLAP_MS ? newest : one.at);
  }
  const moments = new Map<string, Moment>();
  let oldest = Infinity;
  for (const one of inOrder.reverse()) {
    if (typeof one === 'number') oldest = Math.min(oldest, one);
    else moments.set(one.stored.id, { from: oldest < one.at - OVERLAP_MS ? oldest : one.at, to: latest.get(one.stored.id)! });
  }
  return moments;
}
