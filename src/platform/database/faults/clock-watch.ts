import type { Logger } from 'pino';

/** Past it a server is not ready: its entries would be dated wrongly, since times in the log are its own. */
export const LARGEST_CLOCK_SKEW_MS = 2_000;

/** Milliseconds between two clocks, as far as a question that took its time can tell. @param asked before the database told its time */
export function clockSkewMs(database: Date, asked: number, answered: number): number {
  return database.getTime() < asked ? asked - database.getTime() : Math.max(0, database.getTime() - answered);
}

/** Says when this server's clock has left the database's, and when it is back. */
export class ClockWatch {
  /** As it was seen last; undefined before the first time. */
  skewMs: number | undefined;

  constructor(private readonly logger: Logger) {}

  see(database: Date, asked: number, answered: number): void {
    const wasOff = (this.skewMs ?? 0) > LARGEST_CLOCK_SKEW_MS;
    this.skewMs = clockSkewMs(database, asked, answered);
    const isOff = this.skewMs > LARGEST_CLOCK_SKEW_MS;
    if (isOff === wasOff) return;
    if (isOff) this.logger.warn({ skewMs: this.skewMs }, 'This server\'s clock differs from the database\'s (docs/runbooks.md#clock-off)');
    else this.logger.info({ skewMs: this.skewMs }, 'the clocks of this server and of the database agree again');
  }
}
