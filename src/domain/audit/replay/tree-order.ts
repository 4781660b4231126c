import type { StoredLeaf } from '../entry/stored-entry.js';
import { countUpTo } from './state/versioned.js';

type Leaf = Pick<StoredLeaf, 'chain' | 'seq'>;

/**
 * Where the entries of an organization stand among the changes of its shared facts, by its tree, which has them in the order of their
 * commits. Of each chain it keeps from which position on how many changes stand before.
 */
export class TreeOrder {
  private readonly chains = new Map<string, { readonly seqs: number[]; readonly changes: number[] }>();

  private constructor(private readonly changes: readonly number[]) {}

  /**
   * @param own the organization's own chain
   * @param changes positions in that chain at which shared facts change, rising
   * @param leaves of its tree, and what is queued behind
   */
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

  /** Why an entry cannot rest on the shared facts that were told up to a position; undefined where it can. */
  whyNotAt(chain: string, seq: number, position: number): string | undefined {
    const [known, standing] = [countUpTo(this.changes, position), this.changesBefore(chain, seq)];
    if (known === standing) return undefined;
    return known < standing ? 'what it rests on had changed before it was written' : 'it rests on what changed only after it was written';
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
