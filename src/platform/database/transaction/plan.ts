import type { ChainRef } from '../../../domain/audit/entry/chain.js';

/** What a unit of work takes hold of before its story begins. */
export interface Plan {
  /** Chains whose heads are locked before anything is read: whatever this work appends to, or takes its order from. */
  chains: readonly ChainRef[];
  /** Chains that begin with this work; their heads are inserted. */
  creates?: readonly ChainRef[];
  /** Organizations whose shared facts (definitions, settings) this work judges by: their barrier is taken shared. */
  judges?: readonly string[];
  /**
   * Organizations of which this work changes what all their agents share (definitions, teams and their grants, settings, stops;
   * people's roles and keys). Their revision rises, so that decisions in flight are taken again. Their barriers are taken exclusively,
   * before the heads: so whatever was decided by the older facts has ended before this work appends its entries, and in the
   * organization's tree no such decision stands behind them.
   *
   * `all`: of every organization there is, those included that are made while this work runs. These barriers are passed behind the
   * commit, and the answer waits for that; so does the answer of a replay, since the first call may have died before it had waited.
   */
  changesShared?: readonly string[] | 'all';
  /** Waits for its heads with little patience: a frozen server's open transaction before it is ended (silent-holders.ts). */
  urgent?: true;
  /**
   * For what can be done later as well: barriers and heads that somebody holds are left out instead of waited for, and so are
   * heads that are gone. `tx.holds` tells which were got; and what has to be waited for besides, this has little patience for.
   */
  onlyFree?: true;
  /** One such work at a time, of all servers: an advisory lock that is only tried. @throws UnderWay where another has it */
  alone?: number;
  /** Waits for each of its locks so long and no longer, in milliseconds; otherwise as the session does. */
  patienceMs?: number;
  /** What the locked chains' agents are decided by stays as it is, so that decisions in flight need not be taken again. */
  leavesFacts?: true;
  /**
   * For what may concern an agent that has left: where its segment here is closed, its organization's chain is locked in its
   * place, instead of saying that there is no such thing. `tx.chainNow` tells which of the two it is.
   */
  evenIfClosed?: true;
}

/** Ends a unit of work before it began: what it wanted to do alone is being done, here or by another server. */
export class UnderWay extends Error {
  constructor() {
    super('under way');
  }
}
