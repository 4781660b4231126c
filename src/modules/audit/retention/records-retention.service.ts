import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { Logger } from 'pino';
import { EndedRecordKeepers, type EndedRecords, type RecordKey } from '../../../platform/audit/ended-records.js';
import { asService } from '../../../platform/auth/access/call-context.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { Leadership } from '../../../platform/database/leadership/leadership.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { LOGGER } from '../../../platform/logging/token.js';
import { olderThan } from './retention-period.js';

const LOOK_EVERY_MS = 2_000;
/** A pass looks at every row that is old enough; there is no index of those that are due, which every call would pay for. */
const BLANK_EVERY_MS = 24 * 3_600_000;
const AGAIN_AFTER_MS = 600_000;
const AT_ONCE = 1_000;

/** While this replica leads: blanks, at once and then every day, the payloads of rows that ended before their period. */
@Injectable()
export class RecordsRetentionService implements BeforeApplicationShutdown {
  private blanking: Promise<void> | undefined;
  private next = 0;
  private isStopping = false;

  constructor(
    private readonly work: UnitOfWork,
    private readonly keepers: EndedRecordKeepers,
    private readonly leadership: Leadership,
    @Inject(CONFIG) private readonly config: CompleteConfig,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @Interval(LOOK_EVERY_MS)
  tick(): void {
    if (this.config.recordsRetentionDays === undefined || this.isOver || this.blanking || performance.now() < this.next) return;
    this.blanking = asService('sweeper', () => this.blank(this.config.recordsRetentionDays!)).finally(() => (this.blanking = undefined));
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.blanking;
  }

  private get isOver(): boolean {
    return this.isStopping || !this.leadership.isLeader;
  }

  private async blank(days: number): Promise<void> {
    this.next = performance.now() + BLANK_EVERY_MS;
    try {
      for (const keeper of this.keepers.all()) {
        const blanked = await this.blankAll(keeper, days);
        if (blanked > 0) this.logger.info({ records: keeper.name, blanked }, 'payloads of old records were blanked');
      }
    } catch (error) {
      this.next = performance.now() + AGAIN_AFTER_MS;
      this.logger.warn({ err: error }, 'payloads of old records could not be blanked; it is tried again in ten minutes');
    }
  }

  private async blankAll(keeper: EndedRecords, days: number): Promise<number> {
    let blanked = 0;
    let after: RecordKey | undefined;
    do {
      const from = after;
      const done = await this.work.run({ chains: [] }, async (tx) => keeper.blank(tx, olderThan(await tx.now(), days), AT_ONCE, from));
      blanked += done.blanked;
      after = done.next;
    } while (after !== undefined && !this.isOver);
    return blanked;
  }
}
