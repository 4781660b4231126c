import { Injectable } from '@nestjs/common';
import { type ErasureTarget, PersonalDataHolders } from '../../../platform/audit/personal-data/personal-data-holders.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { addRows, type Erasure, type ErasureKey, type ErasureCursor } from './erasure.js';
import { ErasureProgress, under } from './erasure-progress.service.js';
import { SealedSearchTexts } from '../requests/sealed-search-texts.js';
import { atPhase } from '../search/erasure-search.service.js';

/** Rows of a module that one transaction changes at most. */
const ROWS_AT_ONCE = 200;

/** Erases from the rows of modules, one module after the other. */
@Injectable()
export class EraseRows {
  constructor(
    private readonly work: UnitOfWork,
    private readonly progress: ErasureProgress,
    private readonly holders: PersonalDataHolders,
    private readonly texts: SealedSearchTexts,
  ) {}

  async step(key: ErasureKey, from: ErasureCursor): Promise<void> {
    const { holder: at = 0, after } = from;
    await this.work.run(under(key), async (tx) => {
      const erasure = await this.progress.lock(tx, key, from);
      const done = await this.holders.all()[at]?.erase(tx, this.target(erasure), ROWS_AT_ONCE, after);
      const counts = at === 0 && after === undefined ? { ...erasure.counts, left: {} } : erasure.counts;
      await this.progress.move(tx, erasure, nextOf(from, at, done), done ? addRows(counts, done.counts) : counts);
    });
  }

  private target({ organizationId, userId, id, texts, cursor }: Erasure): ErasureTarget {
    return { organizationId, ...(userId === null ? {} : { userId }), texts: cursor.ownOnly ? [] : this.texts.open(id, texts) };
  }
}

function nextOf(cursor: ErasureCursor, holder: number, done: { readonly next?: string } | undefined): ErasureCursor {
  if (!done) return atPhase(cursor, 'archive');
  if (done.next === undefined) return { ...atPhase(cursor, 'rows'), holder: holder + 1 };
  return { ...atPhase(cursor, 'rows'), holder, after: done.next };
}
