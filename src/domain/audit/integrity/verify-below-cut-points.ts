import { findingAt, type Finding } from './findings.js';
import type { StoredEntry, StoredLeaf } from '../entry/stored-entry.js';
import { endLinks, nextPosition, startChain, type ChainState } from './verify-chain.js';

/** Where a chain goes on from: what stands up to there is not read, or gone. */
export interface KnownCutPoint extends StoredLeaf {
  /** Whether nothing may stand there any more. */
  readonly isDone: boolean;
}

/**
 * Entries below a chain's cut. Once the run is done there may be none; until then those that it has not deleted yet, oldest first: the
 * last ones up to the cut, each as sound as any entry, linked, and ending with that of the cut. Blanks among them are not checked: the
 * erasure that lists them may have been swept first.
 */
export class EntriesBelowCutPoint {
  count = 0;
  private state: ChainState | undefined;
  private readonly stray: Finding[] = [];

  constructor(readonly cut: KnownCutPoint, private readonly comparesLeaves: boolean) {}

  /** What chain and tree hold at each position below the cut, in order; the tree keeps its leaves. */
  next(entry: StoredEntry | undefined, leaf: StoredLeaf | undefined): void {
    if (!entry) return;
    const { cut, comparesLeaves } = this;
    if (cut.isDone) {
      this.stray.push(findingAt(entry, 'inserted', `stands where the chain was cut off, up to ${cut.seq}`));
      return;
    }
    this.count++;
    this.state ??= startChain(cut, comparesLeaves, { seq: entry.seq - 1, hash: entry.prevHash });
    nextPosition(this.state, entry, leaf);
    for (const unasked of [this.state.blanks, this.state.transfers]) unasked.length = 0;
  }

  /** After the last of them. */
  end(): void {
    const { state, cut } = this;
    if (!state?.last) return;
    endLinks(state);
    const { last, lastBroken, breaks } = state;
    if (lastBroken || (last.seq === cut.seq && last.hash === cut.hash)) return;
    breaks.push(findingAt(last, 'inserted', `stands where the chain was cut off, and does not lead to the entry of the cut, ${cut.seq}`));
  }

  /** Those found since the last time. */
  takeBreaks(): Finding[] {
    return [...this.stray.splice(0), ...(this.state?.breaks.splice(0) ?? [])];
  }
}
