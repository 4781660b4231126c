import { Injectable } from '@nestjs/common';
import { type ChainRef, organizationChain, PLATFORM_ORGANIZATION } from '../../domain/audit/chain.js';
import { type Blanking, sortedPairs } from '../../domain/audit/search-entry.js';
import type { Plan } from '../../platform/database/plan.js';
import type { Tx } from '../../platform/database/tx.js';
import { SignedErasures } from '../audit/erasures/signed-erasures.service.js';
import {
  type Erasure, type ErasureCounts, type ErasureKey, type ErasurePlace, type Stepped, VALUES_WITHOUT_CONFIRMATION,
} from './erasure.js';
import { ErasureStore } from './erasure.store.js';
import { atPhase, type Look } from './look-for.service.js';

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
export interface Found {
  readonly values: number;
  readonly entries: number;
  readonly hasDecision: boolean;
}

/** Where an erasure stands, and the log's account of it: one never moves without the other. */
@Injectable()
export class ErasureLedger {
  constructor(
    readonly store: ErasureStore,
    private readonly signed: SignedErasures,
  ) {}

  /** Whether this server may erase: another one has to, where its key is not the one that signs. */
  maySign(tx: Tx): Promise<boolean> {
    return this.signed.maySign(tx);
  }

  /** The erasure, held until this work ends. @throws Overtaken when it is not running any more, or stands elsewhere than `from` */
  async running(tx: Tx, key: ErasureKey, from: ErasurePlace): Promise<Erasure> {
    const erasure = await this.store.find(tx, key, true);
    if (erasure?.state !== 'running' || JSON.stringify(erasure.place) !== JSON.stringify(from)) throw new Overtaken();
    return erasure;
  }

  /** @throws Overtaken where it stands elsewhere than it was read */
  async move(tx: Tx, erasure: Erasure, place: ErasurePlace, counts: ErasureCounts): Promise<void> {
    if (!(await this.store.advance(tx, erasure, { place, counts }))) throw new Overtaken();
  }

  /** Moves it behind what a look has gone over. @throws Overtaken where it stands elsewhere than it was read */
  async pass(tx: Tx, erasure: Erasure, { place, blankings, unreadable, texts }: Look): Promise<void> {
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
  async learn(tx: Tx, erasure: Erasure, place: ErasurePlace, texts: Buffer): Promise<void> {
    if (!(await this.store.advance(tx, erasure, { place, counts: erasure.counts, texts }))) throw new Overtaken();
    await this.store.cover(tx, erasure, 'nothing');
    await this.store.aim(tx, erasure);
  }

  /** Says what will be blank outside of the database. @throws Overtaken */
  async listed(tx: Tx, erasure: Erasure, blankings: readonly Blanking[]): Promise<void> {
    await this.move(tx, erasure, erasure.place, plus(erasure.counts, blankings));
    await this.list(tx, erasure, blankings);
  }

  /**
   * The signed entry without which each blank would be tampering. A key that is taken from what was blank already needs nobody's
   * account; but a sweep that has read it before sees by the entry that its archive is out of date.
   */
  private async list(tx: Tx, { organizationId, id, userId }: Erasure, blankings: readonly Blanking[]): Promise<void> {
    if (blankings.length === 0) return;
    const erased = sortedPairs(blankings.flatMap(({ pairs }) => pairs));
    await this.signed.record(tx, organizationId, { ...(userId === null ? {} : { userId }), erasureId: id, erased });
  }

  /**
   * Whether more has come up than one person alone may erase: then it waits for another one. What they have erased alone within a day
   * counts together: many small erasures are a large one. Under the head of the organization's chain.
   */
  async waits(tx: Tx, erasure: Erasure, found: Omit<Found, 'entries'>): Promise<boolean> {
    const { kind, confirmedBy, organizationId, counts } = erasure;
    if (kind === 'user' || confirmedBy !== null || organizationId === PLATFORM_ORGANIZATION) return false;
    const values = counts.values + found.values + (await this.store.erasedAlone(tx, erasure));
    if (values <= VALUES_WITHOUT_CONFIRMATION && !found.hasDecision) return false;
    await this.store.setState(tx, erasure, 'unconfirmed');
    return true;
  }

  /** The end; unless rows had to be left as they are: then they are looked at again later. */
  async end(tx: Tx, erasure: Erasure): Promise<Stepped> {
    const { organizationId, id, userId, counts, place } = erasure;
    if (Object.keys(counts.left).length > 0) {
      await this.move(tx, erasure, atPhase(place, 'rows'), counts);
      return 'later';
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
export function foundIn(blankings: readonly Blanking[]): Found {
  return {
    values: blankings.reduce((sum, { pairs }) => sum + pairs.length, 0),
    entries: blankings.length,
    hasDecision: blankings.some(({ isDecision }) => isDecision),
  };
}

function plus(counts: ErasureCounts, blankings: readonly Blanking[]): ErasureCounts {
  const { values, entries } = foundIn(blankings);
  return { ...counts, values: counts.values + values, entries: counts.entries + entries };
}
