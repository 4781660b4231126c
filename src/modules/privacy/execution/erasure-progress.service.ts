import { Injectable } from '@nestjs/common';
import { type ChainRef, organizationChain, PLATFORM_ORGANIZATION } from '../../../domain/audit/entry/chain.js';
import { type Blanking, sortedBlanks } from '../../../domain/audit/erasure/search-entry.js';
import type { Plan } from '../../../platform/database/transaction/plan.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { SignedErasures } from '../../audit/erasures/signed-erasures.service.js';
import {
  type Erasure, type ErasureCounts, type ErasureKey, type ErasureCursor, isAnyLeft, type Stepped, VALUES_WITHOUT_CONFIRMATION,
} from './erasure.js';
import { ErasureStore } from './erasure.store.js';
import { atPhase, type ErasureSearchResult } from '../search/erasure-search.service.js';

/** One server at a time erases. */
const ERASURE_LOCK = 715_517_007;

/** For looking: no chain is held. */
export const ALONE: Plan = { chains: [], alone: ERASURE_LOCK };

/** What the log loses no decision in flight rests on; modules whose rows are decided by say so themselves. */
export function under({ organizationId }: ErasureKey, chains: readonly ChainRef[] = []): Plan {
  return { chains: [organizationChain(organizationId), ...chains], leavesFacts: true, alone: ERASURE_LOCK };
}

/** Ends a unit of work of which somebody else, another server or a sweep, has done a part meanwhile. It is done again. */
export class Overtaken extends Error {}

/** How much there is to blank. */
export interface BlankingTotals {
  readonly values: number;
  readonly entries: number;
  /** What was met by a text, and is not the erased user's own. */
  readonly byText: number;
  /** Whether some of that is of a decision. */
  readonly hasDecision: boolean;
}

/** Where an erasure stands, and the log's account of it: one never moves without the other. */
@Injectable()
export class ErasureProgress {
  constructor(
    readonly store: ErasureStore,
    private readonly signed: SignedErasures,
  ) {}

  /** Whether this server may erase: another one has to, where its key is not the one that signs. */
  maySign(tx: Tx): Promise<boolean> {
    return this.signed.maySign(tx);
  }

  /** The erasure, held until this work ends. @throws Overtaken when it is not running any more, or stands elsewhere than `from` */
  async running(tx: Tx, key: ErasureKey, from: ErasureCursor): Promise<Erasure> {
    const erasure = await this.store.find(tx, key, true);
    if (erasure?.state !== 'running' || JSON.stringify(erasure.place) !== JSON.stringify(from)) throw new Overtaken();
    return erasure;
  }

  /** @throws Overtaken where it stands elsewhere than it was read */
  async move(tx: Tx, erasure: Erasure, place: ErasureCursor, counts: ErasureCounts): Promise<void> {
    if (!(await this.store.advance(tx, erasure, { place, counts }))) throw new Overtaken();
  }

  /** Moves it behind what a look has gone over. @throws Overtaken where it stands elsewhere than it was read */
  async pass(tx: Tx, erasure: Erasure, { place, blankings, unreadable, texts }: ErasureSearchResult): Promise<void> {
    const counts = plus(erasure.counts, blankings);
    const step = { place, counts: { ...counts, unreadable: counts.unreadable + unreadable }, ...(texts ? { texts } : {}) };
    if (!(await this.store.advance(tx, erasure, step))) throw new Overtaken();
    // What was not searched for until now may stand anywhere.
    if (texts) await this.store.cover(tx, erasure, 'nothing');
    const was = erasure.place.phase;
    if (was === 'subjects' && place.phase === 'log') await this.store.aim(tx, erasure);
    if (was === 'log' && place.phase === 'rows') await this.store.cover(tx, erasure, 'target');
  }

  /** Blanks what a look has found, and says so. @throws Overtaken where an entry is not as it was read, or gone */
  async blank(tx: Tx, erasure: Erasure, blankings: readonly Blanking[]): Promise<void> {
    if ((await this.store.blank(tx, erasure.organizationId, blankings)) < blankings.length) throw new Overtaken();
    await this.list(tx, erasure, blankings);
  }

  /** Searches for more from here on: what was not searched for until now may stand anywhere. @throws Overtaken */
  async learn(tx: Tx, erasure: Erasure, place: ErasureCursor, texts: Buffer): Promise<void> {
    if (!(await this.store.advance(tx, erasure, { place, counts: erasure.counts, texts }))) throw new Overtaken();
    await this.store.cover(tx, erasure, 'nothing');
    await this.store.aim(tx, erasure);
  }

  /** Says what will be blank outside of the database. @throws Overtaken */
  async listed(tx: Tx, erasure: Erasure, blankings: readonly Blanking[]): Promise<void> {
    await this.move(tx, erasure, erasure.place, plus(erasure.counts, blankings));
    await this.list(tx, erasure, blankings);
  }

  /** The signed entry without which each blank, and each name that is gone, would be tampering. */
  private async list(tx: Tx, { organizationId, id, userId }: Erasure, blankings: readonly Blanking[]): Promise<void> {
    if (blankings.length === 0) return;
    const erased = sortedBlanks(blankings.flatMap(({ listed }) => listed));
    await this.signed.record(tx, organizationId, { ...(userId === null ? {} : { userId }), erasureId: id, erased });
  }

  /**
   * Whether more was met by texts than one person alone may erase: then it waits for another one; a user's goes on with what is their
   * own before. What one person has erased alone within a day counts together: many small erasures are a large one. And whoever may
   * erase a user may have named them before, so that their name says nothing of whose the texts are. Under the head of the
   * organization's chain.
   *
   * @returns what came of the step, where it has to wait
   */
  async waits(tx: Tx, erasure: Erasure, found: Pick<BlankingTotals, 'byText' | 'hasDecision'>): Promise<Stepped | undefined> {
    const { kind, confirmedBy, organizationId, counts, place } = erasure;
    if (confirmedBy !== null || organizationId === PLATFORM_ORGANIZATION || found.byText === 0) return undefined;
    const met = counts.byText + found.byText + (await this.store.erasedAlone(tx, erasure));
    if (met <= VALUES_WITHOUT_CONFIRMATION && !found.hasDecision) return undefined;
    if (kind === 'user') {
      await this.move(tx, erasure, { ...place, ownOnly: true }, counts);
      return 'more';
    }
    await this.store.setState(tx, erasure, 'unconfirmed');
    return 'end';
  }

  /** The end; unless rows had to be left as they are, which are looked at again later, or somebody has to confirm the rest. */
  async end(tx: Tx, erasure: Erasure): Promise<Stepped> {
    const { organizationId, id, userId, counts, place } = erasure;
    if (isAnyLeft(counts)) {
      await this.move(tx, erasure, atPhase(place, 'rows'), counts);
      return 'later';
    }
    if (place.ownOnly) {
      await this.move(tx, erasure, { phase: 'subjects', round: 1 }, counts);
      await this.store.cover(tx, erasure, 'nothing');
      await this.store.setState(tx, erasure, 'unconfirmed');
      return 'end';
    }
    await this.store.end(tx, erasure);
    // Who asks the log whether it was done finds it said, also where nothing stood in it.
    if (counts.values === 0 && userId !== null) {
      await this.signed.record(tx, organizationId, { userId, erasureId: id, erased: [] });
    }
    return 'end';
  }
}

/** How much these are. */
export function foundIn(blankings: readonly Blanking[]): BlankingTotals {
  return {
    values: blankings.reduce((sum, { listed }) => sum + listed.length, 0),
    entries: blankings.length,
    byText: blankings.reduce((sum, { byText }) => sum + byText, 0),
    hasDecision: blankings.some(({ isDecision, byText }) => isDecision && byText > 0),
  };
}

/** Both, where no entry is in the one and in the other. */
export function together(some: BlankingTotals, more: BlankingTotals): BlankingTotals {
  return {
    values: some.values + more.values,
    entries: some.entries + more.entries,
    byText: some.byText + more.byText,
    hasDecision: some.hasDecision || more.hasDecision,
  };
}

function plus(counts: ErasureCounts, blankings: readonly Blanking[]): ErasureCounts {
  const { values, byText, entries } = foundIn(blankings);
  return { ...counts, values: counts.values + values, byText: counts.byText + byText, entries: counts.entries + entries };
}
