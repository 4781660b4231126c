import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { type DatabaseFault, FAULT_DETAILS, faultOf } from '../../http/reply/database-faults.js';
import { LOGGER } from '../../logging/token.js';
import { Metrics, reading } from '../../metrics/metrics.js';

const SAID_AGAIN_AFTER_MS = 60_000;
/** A small write may succeed beside them: that shows nothing. */
const NO_ROOM_TO_WRITE: ReadonlySet<DatabaseFault> = new Set(['disk-full', 'read-only']);

interface Said {
  count: number;
  at: number;
}

/**
 * Errors of the database that pass are tried again without a word, by whatever was under way. Here each kind is said: at once, and then
 * once a minute with how often it has come meanwhile.
 */
@Injectable()
export class DatabaseFaults {
  private readonly said = new Map<string, Said>();
  private readonly noted = new WeakSet<object>();
  /** When each kind came last, in milliseconds of Unix time. */
  private readonly lastAt = new Map<DatabaseFault, number>();
  private refusedAt = -Infinity;
  private wroteAt = -Infinity;

  constructor(
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly metrics: Metrics,
  ) {
    metrics.watch(() => [...this.lastAt].map(([fault, at]) =>
      reading('countersign_database_last_fault_timestamp_seconds', at / 1_000, { fault })));
  }

  /** Whether something could not be written since the last write that needed room. */
  get refusesWrites(): boolean {
    return this.refusedAt > this.wroteAt;
  }

  /** @param begun when the write that has needed room, and has succeeded, was sent, by `performance.now()` */
  wrote(begun: number): void {
    this.wroteAt = begun;
  }

  /** Counts an error of the driver once, whoever else comes with it. */
  readonly note = (error: unknown): void => {
    const cause = (error as { driverError?: unknown } | null)?.driverError ?? error;
    const shown = faultOf(cause);
    if (shown === undefined || typeof cause !== 'object' || cause === null || this.noted.has(cause)) return;
    this.noted.add(cause);
    if (NO_ROOM_TO_WRITE.has(shown.fault)) this.refusedAt = performance.now();
    this.lastAt.set(shown.fault, Date.now());
    this.metrics.count('countersign_database_faults_total', { fault: shown.fault });
    this.say(shown.fault, shown.code, cause);
  };

  private say(fault: DatabaseFault, code: string | undefined, error: object): void {
    const kind = `${fault} ${code}`;
    const now = performance.now();
    const said = this.said.get(kind) ?? { count: 0, at: -Infinity };
    said.count++;
    this.said.set(kind, said);
    if (now - said.at < SAID_AGAIN_AFTER_MS) return;
    this.logger.warn({ fault, sqlstate: code, count: said.count, err: error }, `${FAULT_DETAILS[fault]} (docs/runbooks.md#${fault})`);
    this.said.set(kind, { count: 0, at: now });
  }
}
