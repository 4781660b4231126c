import type { StoredCheckpoint } from '../notes/checkpoint.js';

/** Entries of one chain, from `first` to `last`. */
export interface Span {
  readonly chain: string;
  readonly first: number;
  readonly last: number;
}

/** The entries of one execution or one request. They go together, and not while it is open. */
export interface ExecutionSpan {
  readonly spans: readonly Span[];
  readonly open: boolean;
}

/** An erasure entry and the entries whose values it lists: it excuses their blanks, so none of them may outlive it. */
export interface ErasureLink {
  readonly chain: string;
  readonly seq: number;
  readonly lists: readonly { readonly chain: string; readonly seq: number }[];
}

/** What is left of a chain, and how far it is covered by a checkpoint that is old enough. Positions count from 1. */
export interface CoveredChain {
  readonly chain: string;
  /** The first entry that is still there. */
  readonly first: number;
  /** The last entry below the boundary, 0 where there is none. */
  readonly covered: number;
}

export interface CutPoint {
  readonly chain: string;
  /** The last entry that goes. */
  readonly seq: number;
  readonly count: number;
}

type Covering = Pick<StoredCheckpoint, 'size' | 'platformSize' | 'madeAt'>;

/**
 * How many leaves of an organization's tree have a covering checkpoint that is anchored (up to this size of the platform's tree) and was
 * made before the limit (ISO 8601, UTC, ms). An entry's own time is its writer's claim.
 */
export function retentionBoundary(checkpoints: readonly Covering[], anchoredSize: number, before: string): number {
  let size = 0;
  const anchored = checkpoints.filter(({ platformSize }) => platformSize <= anchoredSize);
  for (const one of anchored.sort((a, b) => a.size - b.size)) {
    // A clock that was set back makes a later checkpoint look older: what the younger one covers first is not old.
    if (one.madeAt >= before) break;
    size = one.size;
  }
  return size;
}

/**
 * How far each chain may be cut: as far as it is covered, but parting no execution or request, cutting no open one, and no erasure entry
 * before the values that it lists. Chains that are not named, or lose nothing, are left out.
 */
export function planCutPoints(
  chains: readonly CoveredChain[],
  executions: readonly ExecutionSpan[],
  erasures: readonly ErasureLink[],
): CutPoint[] {
  const cuts = new Map(chains.map(({ chain, covered }) => [chain, covered]));
  const goes = (chain: string, seq: number) => seq <= (cuts.get(chain) ?? 0);
  const keep = (chain: string, seq: number): boolean => {
    if (!goes(chain, seq)) return false;
    cuts.set(chain, seq - 1);
    return true;
  };
  const isKept = ({ spans, open }: ExecutionSpan) => open || spans.some(({ chain, last }) => !goes(chain, last));

  // Cuts only ever fall, so this ends; lowering one may part what was whole, in another chain too.
  for (let lowered = true; lowered; ) {
    lowered = false;
    for (const one of executions) {
      if (!isKept(one)) continue;
      for (const { chain, first } of one.spans) if (keep(chain, first)) lowered = true;
    }
    for (const { chain, seq, lists } of erasures) {
      if (lists.some((listed) => !goes(listed.chain, listed.seq)) && keep(chain, seq)) lowered = true;
    }
  }
  return chains
    .map(({ chain, first }) => ({ chain, seq: cuts.get(chain)!, count: cuts.get(chain)! - first + 1 }))
    .filter(({ count }) => count > 0);
}
