import { Injectable } from '@nestjs/common';
import { type ChainRef, organizationChain, PLATFORM_ORGANIZATION } from '../../../domain/audit/entry/chain.js';
import { type Blanking, sortedBlanks } from '../../../domain/audit/erasure/search-entry.js';
import { given } from '../../../domain/given.js';
import { newId } from '../../../domain/ids.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import type { Plan } from '../../../platform/database/transaction/plan.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { SignedErasures } from '../../audit/erasures/signed-erasures.service.js';
import {
  type Erasure, type ErasureCounts, type ErasureKey, type ErasureCursor, isAnyLeft, NOTHING_YET, type Stepped, VALUES_WITHOUT_CONFIRMATION,
} from './erasure.js';
import { ErasureStore } from './erasure.store.js';
import type { ErasureRow } from '../requests/erasures.query.js';
import { SealedSearchTexts } from '../requests/sealed-search-texts.js';
import { atPhase, type ErasureSearchResult } from '../search/erasure-search.service.js';

/** One server at a time erases. */
const ERASURE_LOCK = 715_517_007;

/** For reading: no chain is locked. */
export const ALONE: Plan = { chains: [], alone: ERASURE_LOCK };

/** Decisions in flight do not rest on the values that the log loses. Modules whose rows decisions rest on raise the heads themselves. */
export function under({ organizationId }: ErasureKey, chains: readonly ChainRef[] = []): Plan {
  return { chains: [organizationChain(organizationId), ...chains], leavesFacts: true, alone: ERASURE_LOCK };
}

/** Ends a unit of work because another server, or a retention run, has done a part of the work meanwhile: the work is done again. */
export class Overtaken extends Error {}

/** How much is to be blanked. */
export interface BlankingTotals {
  readonly values: number;
  readonly entries: number;
  /** Values that were found by a text, and are not the erased user's own. */
  readonly byText: number;
  /** Whether some of these values belong to a decision. */
  readonly hasDecision: boolean;
}

type NewErasure = Pick<Erasure, 'organizationId' | 'kind' | 'userId' | 'reason' | 'state' | 'cursor'>
  & { readonly texts: readonly string[]; readonly caller: Caller };

/** Moves the cursor of an erasure together with the entries that list what was erased. */
@Injectable()
export class ErasureProgress {
  constructor(
    readonly store: ErasureStore,
    readonly texts: SealedSearchTexts,
    readonly signed: SignedErasures,
  ) {}

  /** Begins an erasure, or has it wait for a confirmation. Needs the head of the organization's chain. */
  async begin(tx: Tx, { texts, caller, ...erasure }: NewErasure): Promise<ErasureRow> {
    const id = newId('ers');
    const row = { ...erasure, id, askedBy: caller.actorId, counts: NOTHING_YET, askedAt: await tx.now() };
    await this.store.insert(tx, { ...row, texts: this.texts.seal(id, texts) });
    if (row.cursor.phase === 'log') await this.store.setScope(tx, row);
    const metadata = given({ userId: row.userId, erasureId: id, count: texts.length, reason: row.reason });
    tx.record(organizationChain(row.organizationId), { type: 'gdpr.erasure_requested', metadata }, { actorId: caller.actorId });
    return { ...row, confirmedBy: null, endedAt: null };
  }

  /** Locks the erasure until the unit of work ends. @throws Overtaken where the erasure has ended, or its cursor is not `from` */
  async lock(tx: Tx, key: ErasureKey, from: ErasureCursor): Promise<Erasure> {
    const erasure = await this.store.find(tx, key, true);
    if (erasure?.state !== 'running' || JSON.stringify(erasure.cursor) !== JSON.stringify(from)) throw new Overtaken();
    return erasure;
  }

  /** @throws Overtaken where the cursor has moved since the erasure was read */
  async move(tx: Tx, erasure: Erasure, cursor: ErasureCursor, counts: ErasureCounts, texts?: Buffer): Promise<void> {
    if (!(await this.store.advance(tx, erasure, given({ cursor, counts, texts })))) throw new Overtaken();
  }

  /** Moves the cursor behind what was searched. @throws Overtaken where the cursor has moved since the erasure was read */
  async moveBehind(tx: Tx, erasure: Erasure, { cursor, blankings, unreadable, texts }: ErasureSearchResult): Promise<void> {
    const counts = plus(erasure.counts, blankings);
    await this.move(tx, erasure, cursor, { ...counts, unreadable: counts.unreadable + unreadable }, texts);
    // New texts may stand anywhere in the log.
    if (texts) await this.store.markSearched(tx, erasure, 'nothing');
    const was = erasure.cursor.phase;
    if (was !== 'log' && cursor.phase === 'log') await this.store.setScope(tx, erasure);
    if (was === 'log' && cursor.phase === 'rows') await this.store.markSearched(tx, erasure, 'scope');
  }

  /** Blanks the values that a search has found, and records them. @throws Overtaken where an entry has changed since, or is gone */
  async blank(tx: Tx, erasure: Erasure, blankings: readonly Blanking[]): Promise<void> {
    if ((await this.store.blank(tx, erasure.organizationId, blankings)) < blankings.length) throw new Overtaken();
    await this.list(tx, erasure, blankings);
  }

  /** Records values that will be blanked outside of the database. @throws Overtaken */
  async recordArchived(tx: Tx, erasure: Erasure, blankings: readonly Blanking[]): Promise<void> {
    await this.move(tx, erasure, erasure.cursor, plus(erasure.counts, blankings));
    await this.list(tx, erasure, blankings);
  }

  /** Records the signed entry without which each blank value, and each erased name, would count as tampering. */
  private async list(tx: Tx, { organizationId, id, userId }: Erasure, blankings: readonly Blanking[]): Promise<void> {
    if (blankings.length === 0) return;
    const erased = sortedBlanks(blankings.flatMap(({ listed }) => listed));
    await this.signed.record(tx, organizationId, { ...(userId === null ? {} : { userId }), erasureId: id, erased });
  }

  /**
   * Holds up an erasure that has found more by texts than one person alone may erase, until a second person confirms. The erasure of a
   * user first goes on with the user's own values. Erasures of one person within a day count together: many small erasures are a large
   * one. A user's name proves nothing: whoever may erase a user may have named the user before. Needs the head of the organization's chain.
   *
   * @returns the result of the step, where the erasure has to wait
   */
  async requireConfirmation(tx: Tx, erasure: Erasure, found: Pick<BlankingTotals, 'byText' | 'hasDecision'>): Promise<Stepped | undefined> {
    const { kind, confirmedBy, organizationId, counts, cursor } = erasure;
    if (confirmedBy !== null || organizationId === PLATFORM_ORGANIZATION || found.byText === 0) return undefined;
    const met = counts.byText + found.byText + (await this.store.erasedAlone(tx, erasure));
    if (met <= VALUES_WITHOUT_CONFIRMATION && !found.hasDecision) return undefined;
    if (kind === 'user') {
      await this.move(tx, erasure, { ...cursor, ownOnly: true }, counts);
      return 'more';
    }
    await this.store.setState(tx, erasure, 'unconfirmed');
    return 'end';
  }

  /** Ends the erasure; unless rows were left, which are searched again later, or somebody has to confirm the rest. */
  async end(tx: Tx, erasure: Erasure): Promise<Stepped> {
    const { organizationId, id, userId, counts, cursor } = erasure;
    if (isAnyLeft(counts)) {
      await this.move(tx, erasure, atPhase(cursor, 'rows'), counts);
      return 'later';
    }
    if (cursor.ownOnly) {
      await this.move(tx, erasure, { phase: 'subjects', round: 1 }, counts);
      await this.store.markSearched(tx, erasure, 'nothing');
      await this.store.setState(tx, erasure, 'unconfirmed');
      return 'end';
    }
    await this.store.end(tx, erasure);
    // The log records the erasure of a user also where it had nothing of the user.
    if (counts.values === 0 && userId !== null) {
      await this.signed.record(tx, organizationId, { userId, erasureId: id, erased: [] });
    }
    return 'end';
  }
}

/** The totals of some blankings, beside those of others. */
export function totalsOf(blankings: readonly Blanking[], others: BlankingTotals = NOTHING_FOUND): BlankingTotals {
  return blankings.reduce((sum, { listed, byText, isDecision }) => ({
    values: sum.values + listed.length,
    entries: sum.entries + 1,
    byText: sum.byText + byText,
    hasDecision: sum.hasDecision || (isDecision && byText > 0),
  }), others);
}

const NOTHING_FOUND: BlankingTotals = { values: 0, entries: 0, byText: 0, hasDecision: false };

function plus(counts: ErasureCounts, blankings: readonly Blanking[]): ErasureCounts {
  const { values, byText, entries } = totalsOf(blankings);
  return { ...counts, values: counts.values + values, byText: counts.byText + byText, entries: counts.entries + entries };
}
