import { Injectable } from '@nestjs/common';
import { type ErasureTarget, PersonalDataHolders } from '../../../platform/audit/personal-data/personal-data-holders.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { OtherKey } from '../../audit/keys/signer.js';
import { EraseArchive } from './erase-archive.service.js';
import { addRows, type Erasure, type ErasureKey, type ErasureCursor, type Stepped } from './erasure.js';
import { ALONE, ErasureProgress, totalsOf, Overtaken, under } from './erasure-progress.service.js';
import { atPhase, type ErasureSearchResult, ErasureSearch } from '../search/erasure-search.service.js';
import { LogSearchQuery } from '../search/log-search.query.js';

/** An erasure ends even if its texts keep coming: this round ends at the positions of the chains when the round begins. */
const LAST_ROUND = 4;
/** Rows of a module that one transaction changes at most. */
const ROWS_AT_ONCE = 200;

/** What follows a search: the step has ended, values are to be blanked in a transaction with more locks, or another phase goes on. */
type Next = Stepped | { readonly found: ErasureSearchResult } | { readonly at: ErasureCursor };

/**
 * Runs an erasure step by step, each a transaction that begins at the cursor of the last committed one. A round searches the log, then the
 * rows of modules, then the archive. Rounds are repeated over new entries, until under the locks of all chains of the organization no new
 * entry holds anything to erase.
 */
@Injectable()
export class ErasureSteps {
  constructor(
    private readonly work: UnitOfWork,
    private readonly progress: ErasureProgress,
    private readonly search: ErasureSearch,
    private readonly log: LogSearchQuery,
    private readonly archive: EraseArchive,
    private readonly holders: PersonalDataHolders,
  ) {}

  /** @throws UnderWay where another server erases */
  async step(key: ErasureKey): Promise<Stepped> {
    try {
      const next = await this.work.run(ALONE, (tx) => this.find(tx, key));
      if (typeof next === 'string') return next;
      if ('found' in next) return await this.blank(key, next.found);
      if (next.at.phase === 'archive') return await this.archive.step(key, next.at);
      if (next.at.phase === 'check') return await this.check(key, next.at);
      await this.eraseRows(key, next.at);
      return 'more';
    } catch (error) {
      // The signing key was rotated since the first check: the next step checks again.
      if (error instanceof Overtaken || error instanceof OtherKey) return 'more';
      throw error;
    }
  }

  private async find(tx: Tx, key: ErasureKey): Promise<Next> {
    const erasure = await this.progress.store.find(tx, key);
    if (erasure?.state !== 'running') return 'end';
    // Another key signs since a rotation: a server that has it goes on.
    if (!(await this.progress.signed.maySign(tx))) return 'later';
    const { phase } = erasure.cursor;
    if (phase !== 'subjects' && phase !== 'log') return { at: erasure.cursor };
    const found = phase === 'subjects' ? await this.search.subjects(tx, erasure) : await this.search.inLog(tx, erasure);
    if (found.blankings.length > 0) return { found };
    await this.progress.moveBehind(tx, erasure, found);
    return 'more';
  }

  private async blank(key: ErasureKey, found: ErasureSearchResult): Promise<Stepped> {
    return this.work.run(under(key), async (tx) => {
      const erasure = await this.progress.lock(tx, key, found.from);
      const waiting = await this.progress.requireConfirmation(tx, erasure, totalsOf(found.blankings));
      if (waiting) return waiting;
      await this.progress.moveBehind(tx, erasure, found);
      await this.progress.blank(tx, erasure, found.blankings);
      return 'more';
    });
  }

  /** Erases from the rows of modules, one module after the other. */
  private async eraseRows(key: ErasureKey, from: ErasureCursor): Promise<void> {
    const { holder: at = 0, after } = from;
    await this.work.run(under(key), async (tx) => {
      const erasure = await this.progress.lock(tx, key, from);
      const done = await this.holders.all()[at]?.erase(tx, this.target(erasure), ROWS_AT_ONCE, after);
      const counts = at === 0 && after === undefined ? { ...erasure.counts, left: {} } : erasure.counts;
      await this.progress.move(tx, erasure, nextOf(from, at, done), done ? addRows(counts, done.counts) : counts);
    });
  }

  private target({ organizationId, userId, id, texts, cursor }: Erasure): ErasureTarget {
    return { organizationId, ...(userId === null ? {} : { userId }), texts: cursor.ownOnly ? [] : this.progress.texts.open(id, texts) };
  }

  /** Searches new entries under the locks of all chains, so that none is appended and none swept meanwhile. */
  private async check(key: ErasureKey, at: ErasureCursor): Promise<Stepped> {
    const chains = await this.work.run(ALONE, (tx) => this.log.chains(tx, key.organizationId));
    const plan = under(key, chains.map((chain) => ({ organizationId: key.organizationId, chain })));
    return this.work.run({ ...plan, evenIfClosed: true, leavesFacts: true }, async (tx) => {
      const erasure = await this.progress.lock(tx, key, at);
      if (!(await this.archive.isThrough(tx, erasure))) {
        await this.progress.move(tx, erasure, atPhase(erasure.cursor, 'archive'), erasure.counts);
        return 'more';
      }
      if (!(await this.search.isInNewEntries(tx, erasure))) return this.progress.end(tx, erasure);
      const round = erasure.cursor.round + 1;
      const { ownOnly } = erasure.cursor;
      const next: ErasureCursor = {
        round,
        ...(round >= LAST_ROUND ? { phase: 'log', last: true } : { phase: erasure.kind === 'user' ? 'subjects' : 'log' }),
        ...(ownOnly ? { ownOnly } : {}),
      };
      await this.progress.move(tx, erasure, next, erasure.counts);
      if (next.phase === 'log') await this.progress.store.setScope(tx, erasure);
      return 'more';
    });
  }
}

function nextOf(cursor: ErasureCursor, holder: number, done: { readonly next?: string } | undefined): ErasureCursor {
  if (!done) return atPhase(cursor, 'archive');
  if (done.next === undefined) return { ...atPhase(cursor, 'rows'), holder: holder + 1 };
  return { ...atPhase(cursor, 'rows'), holder, after: done.next };
}
