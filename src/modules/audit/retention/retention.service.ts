import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { Logger } from 'pino';
import { ReadinessFacts, type ReadinessFact } from '../../../platform/audit/readiness-facts.js';
import { asService } from '../../../platform/auth/access/call-context.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { Leadership } from '../../../platform/database/leadership/leadership.js';
import { UnderWay } from '../../../platform/database/transaction/plan.js';
import { LOGGER } from '../../../platform/logging/token.js';
import { RecordsRetention } from './records-retention.js';
import { retentionWarning } from './retention-period.js';
import { RetentionRuns } from './run-retention.js';

const LOOK_EVERY_MS = 2_000;
const RUN_EVERY_MS = 3_600_000;
/** While another process runs retention, or erases from archives. */
const AGAIN_MS = 60_000;

// Anybody may ask a server whether it is ready, and the reason names folders and organizations.
const SEE = '`countersign doctor`, and the log of the server that leads, say why.';
const NOTHING_SWEPT = `Nothing is swept: AUDIT_ARCHIVE cannot be used. ${SEE}`;
const NOT_ALL_SWEPT = `Not everything is swept. ${SEE}`;

/** Work that is done at once, and again after the pause that it asks for. */
class Repeated {
  private running: Promise<void> | undefined;
  private next = 0;

  constructor(private readonly work: () => Promise<number>) {}

  tick(): void {
    if (this.running || performance.now() < this.next) return;
    const work = asService('sweeper', this.work).then((pause) => void (this.next = performance.now() + pause));
    this.running = work.finally(() => (this.running = undefined));
  }

  async ended(): Promise<void> {
    await this.running;
  }
}

/** While this replica leads: archives and deletes old entries, and blanks old records. Readiness shows what hinders retention. */
@Injectable()
export class RetentionService implements OnApplicationBootstrap, BeforeApplicationShutdown, ReadinessFact {
  readonly name = 'retention';
  private readonly removals = new Repeated(() => this.remove());
  private readonly blankings = new Repeated(() => this.records.blank(this.config.recordsRetentionDays!, this.isOver));
  private isStopping = false;
  private isHindered = false;

  constructor(
    private readonly runs: RetentionRuns,
    private readonly records: RecordsRetention,
    private readonly leadership: Leadership,
    facts: ReadinessFacts,
    @Inject(CONFIG) private readonly config: CompleteConfig,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    facts.register(this);
  }

  onApplicationBootstrap(): void {
    const warning = retentionWarning(this.config.auditRetentionDays);
    if (warning !== undefined) this.logger.warn(warning);
  }

  /** Both are only warnings: the log is whole while nothing can be swept. */
  async look(): Promise<Record<string, string>> {
    const { auditRetentionDays: days } = this.config;
    if (days === undefined) return {};
    const warning = retentionWarning(days);
    const usable = await this.runs.archive.check().then(() => true, () => false);
    const archive = !usable ? NOTHING_SWEPT : this.isHindered ? NOT_ALL_SWEPT : undefined;
    return {
      ...(warning === undefined ? {} : { retentionWarning: warning }),
      ...(archive === undefined ? {} : { archiveWarning: archive }),
    };
  }

  @Interval(LOOK_EVERY_MS)
  tick(): void {
    if (this.isOver()) return;
    if (this.config.auditRetentionDays !== undefined) this.removals.tick();
    if (this.config.recordsRetentionDays !== undefined) this.blankings.tick();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await Promise.all([this.removals.ended(), this.blankings.ended()]);
  }

  private readonly isOver = (): boolean => this.isStopping || !this.leadership.isLeader;

  /** @returns after how many milliseconds the next one is due */
  private async remove(): Promise<number> {
    try {
      await this.runs.archive.check();
      let isHindered = false;
      for await (const one of this.runs.all(this.isOver)) {
        if ('failed' in one) {
          isHindered = true;
          this.logger.error({ err: one.failed, organizationId: one.organizationId }, 'an organization could not be swept');
        } else if (one.entries > 0) this.logger.info(one, 'entries were archived and swept');
      }
      this.isHindered = isHindered;
    } catch (error) {
      if (error instanceof UnderWay) return AGAIN_MS;
      this.isHindered = true;
      this.logger.warn({ err: error }, 'nothing was swept; it is tried again in an hour');
    }
    return RUN_EVERY_MS;
  }
}
