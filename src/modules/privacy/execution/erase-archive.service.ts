import { Injectable } from '@nestjs/common';
import { pointersTo } from '../../../domain/audit/entry/prepare-entry.js';
import { readPayload } from '../../../domain/audit/entry/payload.js';
import { type Blanking, searchedTexts, textsAt } from '../../../domain/audit/erasure/search-entry.js';
import { UnderWay } from '../../../platform/database/transaction/plan.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import type { ArchivedEntry } from '../../audit/retention/archives/archived-disclosures.js';
import { type ArchivedRuns, ErasableArchives, type OpenArchives } from '../../audit/retention/archives/erasable-archives.js';
import { addRows, type Erasure, type ErasureKey, type ErasureCursor, type Stepped } from './erasure.js';
import { ALONE, ErasureProgress, type BlankingTotals, totalsOf, under } from './erasure-progress.service.js';
import { SealedSearchTexts } from '../requests/sealed-search-texts.js';
import { atPhase, blankedOne, legible, ErasureSearch, VALUES_AT_ONCE } from '../search/erasure-search.service.js';

/** What an archive holds of what is to be erased, before anything is blanked. */
interface Survey extends BlankingTotals {
  /** All texts to search for, where the archive holds further ones. */
  readonly texts?: readonly string[];
}

/**
 * Erases values of swept entries from their archives. The log lists a value before the archive blanks the value: to list a value twice, or
 * too early, does no harm; a blank value that no entry lists is tampering. After a crash the step is run again.
 */
@Injectable()
export class EraseArchive {
  constructor(
    private readonly work: UnitOfWork,
    private readonly progress: ErasureProgress,
    private readonly search: ErasureSearch,
    private readonly texts: SealedSearchTexts,
    private readonly archived: ErasableArchives,
  ) {}

  async step(key: ErasureKey, from: ErasureCursor): Promise<Stepped> {
    const { erasure, runs } = await this.work.run(ALONE, async (tx) =>
      ({ erasure: await this.progress.lock(tx, key, from), runs: await this.archived.runs(tx, key.organizationId) }));
    const isThrough = runs.unfinished.length === 0 && runs.recorded.length === (from.archives ?? 0);
    const erased = isThrough ? {} : await this.through(erasure, runs);
    if (typeof erased === 'string') return erased;
    return this.work.run(under(key), async (tx) => {
      const now = await this.progress.lock(tx, key, from);
      // A retention run has added an archive meanwhile, which was not searched here.
      if ((await this.recorded(tx, key)) !== runs.recorded.length) return 'more';
      const counts = addRows(now.counts, erased);
      if (now.cursor.last) return this.progress.end(tx, { ...now, counts });
      await this.progress.move(tx, now, { ...atPhase(now.cursor, 'check'), archives: runs.recorded.length }, counts);
      return 'more';
    });
  }

  /** Whether every archive was searched. */
  async isThrough(tx: Tx, erasure: Erasure): Promise<boolean> {
    return (await this.recorded(tx, erasure)) === (erasure.cursor.archives ?? 0);
  }

  private async recorded(tx: Tx, { organizationId }: ErasureKey): Promise<number> {
    return (await this.archived.runs(tx, organizationId)).recorded.length;
  }

  /** @returns the counts; or the result of the step, where not all archives were searched */
  private async through(erasure: Erasure, runs: ArchivedRuns): Promise<Record<string, number> | Stepped> {
    try {
      return await this.archived.open(erasure.organizationId, runs, (open) => this.erase(erasure, open));
    } catch (error) {
      if (error instanceof UnderWay) return 'later';
      throw error;
    }
  }

  private async erase(erasure: Erasure, open: OpenArchives): Promise<Record<string, number> | Stepped> {
    const blanking = this.blanker(erasure);
    const { texts, ...found } = await this.survey(erasure, open, blanking);
    if (texts) return this.learn(erasure, texts);
    const counted: Record<string, number> = 'archivesGone' in erasure.counts.rows ? {} : { archivesGone: open.gone };
    if (found.entries === 0) return counted;
    const waiting = await this.work.run(under(erasure), async (tx) =>
      this.progress.requireConfirmation(tx, await this.progress.lock(tx, erasure, erasure.cursor), found));
    if (waiting) return waiting;
    await this.list(erasure, open, blanking);
    const entries = await open.rewrite((entry) => blanking(entry)?.after ?? entry.text);
    return { archived: entries, ...counted };
  }

  private async survey(erasure: Erasure, open: OpenArchives, blanking: (entry: ArchivedEntry) => Blanking | undefined): Promise<Survey> {
    const known = this.texts.open(erasure.id, erasure.texts);
    const learned = new Set<string>();
    let found = totalsOf([]);
    for await (const entry of open.entries()) {
      for (const text of legible(() => textsAt(entry.text, this.pointers(erasure, entry))) ?? []) learned.add(text);
      const one = blanking(entry);
      if (one) found = totalsOf([one], found);
    }
    const texts = searchedTexts([...known, ...learned]);
    return { ...found, ...(texts.length > known.length ? { texts } : {}) };
  }

  /** Texts of a user that the archive holds may stand in the log as well: the log is searched again, and the archive after the log. */
  private learn(erasure: Erasure, texts: readonly string[]): Promise<Stepped> {
    return this.work.run<Stepped>(under(erasure), async (tx) => {
      const now = await this.progress.lock(tx, erasure, erasure.cursor);
      const { round, ownOnly } = now.cursor;
      const cursor = { phase: 'log', round, ...(ownOnly ? { ownOnly } : {}) } as const;
      const learned = { from: now.cursor, cursor, blankings: [], unreadable: 0, texts: this.texts.seal(erasure.id, texts) };
      await this.progress.moveBehind(tx, now, learned);
      return 'more';
    });
  }

  private async list(erasure: Erasure, open: OpenArchives, blanking: (entry: ArchivedEntry) => Blanking | undefined): Promise<void> {
    let page: Blanking[] = [];
    let values = 0;
    const record = () => this.work.run(under(erasure), async (tx) =>
      this.progress.recordArchived(tx, await this.progress.lock(tx, erasure, erasure.cursor), page));
    for await (const entry of open.entries()) {
      const found = blanking(entry);
      if (!found) continue;
      if (page.length > 0 && values + found.listed.length > VALUES_AT_ONCE) {
        await record();
        [page, values] = [[], 0];
      }
      page.push(found);
      values += found.listed.length;
    }
    if (page.length > 0) await record();
  }

  private blanker(erasure: Erasure): (entry: ArchivedEntry) => Blanking | undefined {
    const matches = this.search.matcherOf(erasure);
    return (entry) => {
      const { id, hash, event, text } = entry;
      return blankedOne({ id, hash, event, disclosures: text, pointers: this.pointers(erasure, entry) }, matches);
    };
  }

  /** The table of subjects has no rows of swept entries: the entries themselves name whom they concern. */
  private pointers({ userId }: Erasure, { payload }: ArchivedEntry): string[] {
    const read = userId === null || !payload.includes(userId) ? '' : readPayload(payload);
    return typeof read === 'string' ? [] : pointersTo(userId!, read);
  }
}
