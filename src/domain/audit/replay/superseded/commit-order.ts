import type { StoredLeaf } from '../../entry/stored-entry.js';
import { around, type Moment, OVERLAP_MS } from './overlap.js';

/** Leaves of an organization in the order of its tree, and what is queued behind. */
export type OrderedLeaves = (organizationId: string) => AsyncIterable<readonly Pick<StoredLeaf, 'chain' | 'seq'>[]>;

/** How far a clock may have been wrong: of what is stamped further from its place, no clock is to blame. */
export const WRONG_CLOCK_MS = 3_600_000;

/** Times through which some server's clock ran twice, as one chain shows them: apart from each other, in their order. */
export class ClockSteps {
  private newest = -Infinity;
  private readonly steps: { from: number; readonly to: number }[] = [];

  /** In the order of the chain. */
  look(at: number): void {
    if (at < this.newest - OVERLAP_MS && at >= this.newest - WRONG_CLOCK_MS) this.add(at, this.newest);
    this.newest = Math.max(this.newest, at);
  }

  get isNone(): boolean {
    return this.steps.length === 0;
  }

  /** The one that an entry of the chain was made in. */
  around(at: number): Moment | undefined {
    return this.steps.find(({ from, to }) => at >= from - OVERLAP_MS && at <= to + OVERLAP_MS);
  }

  private add(from: number, to: number): void {
    let first = from;
    while (this.steps.length > 0 && this.steps.at(-1)!.to >= first) first = Math.min(first, this.steps.pop()!.from);
    this.steps.push({ from: first, to });
  }
}

/** Where entries of an organization stand among those of its own chain, in the order in which they were committed. */
export class CommitOrder {
  /** By chain: from which position on how far the organization's own chain had come, in turn. */
  private readonly places = new Map<string, { readonly seq: number; readonly ownBefore: number }[]>();
  private readonly seqs: number[] = [];
  /** The latest stamp up to each of these, the earliest from each on. */
  private readonly latest: number[] = [];
  private readonly earliest: number[] = [];

  private constructor(stamps: ReadonlyMap<number, number>) {
    const believed: number[] = [];
    let newest = -Infinity;
    for (const [seq, at] of stamps) {
      if (at < newest - WRONG_CLOCK_MS) continue;
      newest = Math.max(newest, at);
      this.seqs.push(seq);
      this.latest.push(newest);
      believed.push(at);
    }
    let oldest = Infinity;
    for (const [i, at] of [...believed.entries()].reverse()) this.earliest[i] = oldest = Math.min(oldest, at);
  }

  /**
   * @param own the organization's own chain
   * @param stamps of its entries, in their order
   * @param chains whose entries are asked for: of them it keeps where others' changes came between
   */
  static async read(
    own: string, stamps: ReadonlyMap<number, number>, chains: ReadonlySet<string>,
    leaves: AsyncIterable<readonly Pick<StoredLeaf, 'chain' | 'seq'>[]>,
  ): Promise<CommitOrder> {
    const order = new CommitOrder(stamps);
    let ownBefore = 0;
    for await (const batch of leaves) {
      for (const { chain, seq } of batch) {
        if (chain === own) ownBefore = seq;
        else if (chains.has(chain)) order.place(chain, seq, ownBefore);
      }
    }
    return order;
  }

  /**
   * When an entry was made, if not when it is stamped: for what its organization's own chain tells by the order of commits, for all else
   * between what was committed before it and is stamped later, and after it and earlier.
   *
   * @param step of a clock, that its chain shows there
   */
  momentOf(chain: string, seq: number, at: number, step: Moment | undefined): Moment {
    const ownBefore = last(this.places.get(chain) ?? [], (place) => place.seq <= seq)?.ownBefore;
    const index = ownBefore === undefined ? -1 : countOf(this.seqs, (own) => own <= ownBefore);
    const earlier = [at, step?.from, index < 0 ? undefined : this.earliest[index]];
    const later = [at, step?.to, index < 0 ? undefined : this.latest[index - 1]];
    const known = (times: readonly (number | undefined)[]) => times.filter((time) => time !== undefined);
    return {
      from: around(Math.max(Math.min(...known(earlier)), at - WRONG_CLOCK_MS)).from,
      to: around(Math.min(Math.max(...known(later)), at + WRONG_CLOCK_MS)).to,
      ...(ownBefore === undefined ? {} : { order: { at, ownBefore } }),
    };
  }

  private place(chain: string, seq: number, ownBefore: number): void {
    const places = this.places.get(chain);
    if (!places) this.places.set(chain, [{ seq, ownBefore }]);
    else if (places.at(-1)!.ownBefore !== ownBefore) places.push({ seq, ownBefore });
  }
}

/** How many of a list are so, where those that are stand first. */
function countOf<Item>(items: readonly Item[], isSo: (item: Item) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isSo(items[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function last<Item>(items: readonly Item[], isSo: (item: Item) => boolean): Item | undefined {
  return items[countOf(items, isSo) - 1];
}
