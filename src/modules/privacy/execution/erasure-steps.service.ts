import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { OtherKey } from '../../audit/keys/signer.js';
import { EraseArchive } from './erase-archive.service.js';
import { EraseRows } from './erase-rows.service.js';
import type { ErasureKey, ErasureCursor, Stepped } from './erasure.js';
import { ALONE, ErasureProgress, foundIn, Overtaken, under } from './erasure-progress.service.js';
import { atPhase, type ErasureSearchResult, ErasureSearch } from '../search/erasure-search.service.js';
import { LogSearchQuery } from '../search/log-search.query.js';

/** A text that keeps coming does not keep an erasure from ending: its end is where the chains stand as this round begins. */
const LAST_ROUND = 4;

/** What comes behind a look, in a transaction that holds more: blank, change rows, or take all heads and look again. */
type Next = 'moved' | 'gone' | 'not ours' | { readonly look: ErasureSearchResult } | { readonly at: ErasureCursor };

/**
 * One step of an erasure after the other, each a transaction of its own that begins where the last one that committed has ended. Rounds
 * go over what the log holds, then the modules' rows, then the archive; and again over what has come meanwhile, until under the locks
 * of all of the organization's chains nothing new holds any of it.
 */
@Injectable()
export class ErasureSteps {
  constructor(
    private readonly work: UnitOfWork,
    private readonly ledger: ErasureProgress,
    private readonly looking: ErasureSearch,
    private readonly log: LogSearchQuery,
    private readonly rows: EraseRows,
    private readonly archive: EraseArchive,
  ) {}

  /**
   * @throws UnderWay where another server erases
   */
  async step(key: ErasureKey): Promise<Stepped> {
    try {
      const next = await this.work.run(ALONE, (tx) => this.look(tx, key));
      if (next === 'gone') return 'end';
      if (next === 'not ours') return 'later';
      if (next === 'moved') return 'more';
      if ('look' in next) return await this.blank(key, next.look);
      if (next.at.phase === 'archive') return await this.archive.step(key, next.at);
      if (next.at.phase === 'check') return await this.check(key, next.at);
      await this.rows.step(key, next.at);
      return 'more';
    } catch (error) {
      // The key was rotated since it was asked: the next step asks again.
      if (error instanceof Overtaken || error instanceof OtherKey) return 'more';
      throw error;
    }
  }

  private async look(tx: Tx, key: ErasureKey): Promise<Next> {
    const erasure = await this.ledger.store.find(tx, key);
    if (erasure?.state !== 'running') return 'gone';
    if (!(await this.ledger.maySign(tx))) return 'not ours';
    const { phase } = erasure.place;
    if (phase !== 'subjects' && phase !== 'log') return { at: erasure.place };
    const look = phase === 'subjects' ? await this.looking.subjects(tx, erasure) : await this.looking.inLog(tx, erasure);
    if (look.blankings.length > 0) return { look };
    await this.ledger.pass(tx, erasure, look);
    return 'moved';
  }

  private async blank(key: ErasureKey, look: ErasureSearchResult): Promise<Stepped> {
    return this.work.run(under(key), async (tx) => {
      const erasure = await this.ledger.running(tx, key, look.from);
      const waiting = await this.ledger.waits(tx, erasure, foundIn(look.blankings));
      if (waiting) return waiting;
      await this.ledger.pass(tx, erasure, look);
      await this.ledger.blank(tx, erasure, look.blankings);
      return 'more';
    });
  }

  /** Nothing is written to any of the organization's chains, and nothing swept from them, while this looks at what has come. */
  private async check(key: ErasureKey, at: ErasureCursor): Promise<Stepped> {
    const chains = await this.work.run(ALONE, (tx) => this.log.chains(tx, key.organizationId));
    const plan = under(key, chains.map((chain) => ({ organizationId: key.organizationId, chain })));
    return this.work.run({ ...plan, evenIfClosed: true, leavesFacts: true }, async (tx) => {
      const erasure = await this.ledger.running(tx, key, at);
      if (!(await this.archive.isThrough(tx, erasure))) {
        await this.ledger.move(tx, erasure, atPhase(erasure.place, 'archive'), erasure.counts);
        return 'more';
      }
      if (!(await this.looking.isInNews(tx, erasure))) return this.ledger.end(tx, erasure);
      const round = erasure.place.round + 1;
      const { ownOnly } = erasure.place;
      const next: ErasureCursor = {
        round,
        ...(round >= LAST_ROUND ? { phase: 'log', last: true } : { phase: erasure.kind === 'user' ? 'subjects' : 'log' }),
        ...(ownOnly ? { ownOnly } : {}),
      };
      await this.ledger.move(tx, erasure, next, erasure.counts);
      if (next.phase === 'log') await this.ledger.store.aim(tx, erasure);
      return 'more';
    });
  }
}
