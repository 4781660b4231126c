import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { EndedRecordKeepers, type EndedRecords, type RecordKey } from '../../../platform/audit/ended-records.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { LOGGER } from '../../../platform/logging/token.js';
import { olderThan } from './retention-period.js';

/** A pass looks at every row that is old enough; there is no index of those that are due, which every call would pay for. */
const BLANK_EVERY_MS = 24 * 3_600_000;
const AGAIN_AFTER_MS = 600_000;
const AT_ONCE = 1_000;

/** Blanks the payloads of rows that ended before their period. */
@Injectable()
export class RecordsRetention {
  constructor(
    private readonly work: UnitOfWork,
    private readonly keepers: EndedRecordKeepers,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** @returns after how many milliseconds the next pass is due */
  async blank(days: number, isOver: () => boolean): Promise<number> {
    try {
      for (const keeper of this.keepers.all()) {
        const blanked = await this.blankAll(keeper, days, isOver);
        if (blanked > 0) this.logger.info({ records: keeper.name, blanked }, 'payloads of old records were blanked');
      }
      return BLANK_EVERY_MS;
    } catch (error) {
      this.logger.warn({ err: error }, 'payloads of old records could not be blanked; it is tried again in ten minutes');
      return AGAIN_AFTER_MS;
    }
  }

  private async blankAll(keeper: EndedRecords, days: number, isOver: () => boolean): Promise<number> {
    let blanked = 0;
    let after: RecordKey | undefined;
    do {
      const from = after;
      const done = await this.work.run({ chains: [] }, async (tx) => keeper.blank(tx, olderThan(await tx.now(), days), AT_ONCE, from));
      blanked += done.blanked;
      after = done.next;
    } while (after !== undefined && !isOver());
    return blanked;
  }
}
