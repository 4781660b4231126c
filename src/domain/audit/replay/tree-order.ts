import { getOrInsert } from '../../collections.js';
import type { StoredLeaf } from '../entry/stored-entry.js';
import { countUpTo } from './state/versioned.js';

type Leaf = Pick<StoredLeaf, 'chain' | 'seq'>;

/**
 * Which changes of the chains that decisions rest on came before each entry, in the order of the tree. The changes of all these chains are
 * counted together; of each chain the positions are kept where the count has risen.
 */
export class TreeOrder {
  private readonly chains = new Map<string, { readonly seqs: number[]; readonly changes: number[] }>();
  /** Of each followed chain: the count at each of its changes. */
  private readonly counts = new Map<string, number[]>();

  private constructor(private readonly followed: ReadonlyMap<string, readonly number[]>) {}

  /** @param followed the rising positions of the changes, by chain */
  static async read(followed: ReadonlyMap<string, readonly number[]>, leaves: AsyncIterable<readonly Leaf[]>): Promise<TreeOrder> {
    const order = new TreeOrder(followed);
    let count = 0;
    for await (const batch of leaves) {
      for (const { chain, seq } of batch) {
        order.note(chain, seq, count);
        const changes = followed.get(chain);
        const counts = changes && getOrInsert(order.counts, chain, () => []);
        if (!counts || !(changes[counts.length]! <= seq)) continue;
        for (const changed = countUpTo(changes, seq); counts.length < changed; ) counts.push(++count);
      }
    }
    return order;
  }

  /** Why an entry cannot rest on another chain up to a position; undefined where it can. */
  whyNotAt(chain: string, seq: number, other: string, position: number): string | undefined {
    const known = countUpTo(this.followed.get(other) ?? [], position);
    const before = countUpTo(this.counts.get(other) ?? [], this.changesBefore(chain, seq));
    if (known === before) return undefined;
    return known < before ? 'what it rests on had changed before it was written' : 'it rests on what changed only after it was written';
  }

  private changesBefore(chain: string, seq: number): number {
    const known = this.chains.get(chain);
    return known?.changes[countUpTo(known.seqs, seq) - 1] ?? 0;
  }

  private note(chain: string, seq: number, count: number): void {
    const { seqs, changes } = getOrInsert(this.chains, chain, () => ({ seqs: [], changes: [] }));
    if (changes.at(-1) === count) return;
    seqs.push(seq);
    changes.push(count);
  }
}
