import type { StoredLeaf } from '../entry/stored-entry.js';
import { countUpTo } from './state/versioned.js';

type Leaf = Pick<StoredLeaf, 'chain' | 'seq'>;

/** How many changes of shared facts came before each entry, in the order of the tree; of each chain the positions where that rises. */
export class TreeOrder {
  private readonly chains = new Map<string, { readonly seqs: number[]; readonly changes: number[] }>();

  private constructor(private readonly changes: readonly number[]) {}

  /** @param own the organization's own chain, in which `changes` are the rising positions of changes of shared facts */
  static async read(own: string, changes: readonly number[], leaves: AsyncIterable<readonly Leaf[]>): Promise<TreeOrder> {
    const order = new TreeOrder(changes);
    let before = 0;
    for await (const batch of leaves) {
      for (const { chain, seq } of batch) {
        if (chain !== own) order.note(chain, seq, before);
        else if (changes[before]! <= seq) before = countUpTo(changes, seq);
      }
    }
    return order;
  }

  /** Why an entry cannot rest on the shared facts up to a position; undefined where it can. */
  whyNotAt(chain: string, seq: number, position: number): string | undefined {
    const [known, before] = [countUpTo(this.changes, position), this.changesBefore(chain, seq)];
    if (known === before) return undefined;
    return known < before ? 'what it rests on had changed before it was written' : 'it rests on what changed only after it was written';
  }

  private changesBefore(chain: string, seq: number): number {
    const known = this.chains.get(chain);
    return known?.changes[countUpTo(known.seqs, seq) - 1] ?? 0;
  }

  private note(chain: string, seq: number, before: number): void {
    const known = this.chains.get(chain);
    if (!known) this.chains.set(chain, { seqs: [seq], changes: [before] });
    else if (known.changes.at(-1) !== before) {
      known.seqs.push(seq);
      known.changes.push(before);
    }
  }
}
