import type { ChainRef } from '../../../domain/audit/entry/chain.js';

/** The locks that a unit of work takes before it begins. */
export interface Plan {
  /** Chains whose heads are locked before anything is read: those that this work appends to, or that order it. */
  chains: readonly ChainRef[];
  /** Chains that begin with this work; their heads are inserted. */
  creates?: readonly ChainRef[];
  /** Organizations whose shared facts (definitions, settings) this work judges by: it joins their barriers. */
  judges?: readonly string[];
  /**
   * Organizations of which this work changes what all their agents share (definitions, teams and their grants, settings, stops;
   * people's roles and keys). Their revision rises, so that decisions in flight are taken again. Their barriers are taken exclusively,
   * before the heads: so every decision by the older facts has ended before this work appends its entries, and in the
   * organization's tree none comes behind them.
   *
   * `all`: of every organization there is, those included that are made while this work runs. These barriers are drained behind the
   * commit, and the answer waits for that; so does an idempotent replay, since the first call may have died before it had waited.
   */
  changesShared?: readonly string[] | 'all';
  /** While this work waits for its heads, open transactions of a frozen server that have them are ended (idle-blockers.ts). */
  urgent?: true;
  /**
   * For work that can be done later as well: barriers and heads that are taken are left out instead of waited for, and so are
   * heads that are gone. `tx.hasLocked` says which heads were free.
   */
  onlyFree?: true;
  /** One such work at a time, of all servers: an advisory lock that is only tried. @throws UnderWay where another has it */
  alone?: number;
  /** How long this work waits for each of its locks at most, in milliseconds; otherwise as long as the session does. */
  patienceMs?: number;
  /** This work changes no fact of the locked chains' agents, so decisions in flight need not be taken again. */
  leavesFacts?: true;
  /**
   * For work that may concern an agent that has left: where its segment here is closed, its organization's chain is locked too, instead of
   * a refusal with NOT_FOUND. `tx.chainNow` answers the chain for entries.
   */
  evenIfClosed?: true;
}

/** Ends a unit of work before it began: the same work is being done already, here or by another server. */
export class UnderWay extends Error {
  constructor() {
    super('under way');
  }
}
