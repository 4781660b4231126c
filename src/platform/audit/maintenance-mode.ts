import { Injectable } from '@nestjs/common';
import { Problem } from '../http/reply/problem.js';

/**
 * Why this installation serves nobody at the moment: the database is behind an anchor, say. Kept in memory, so that every call may ask.
 * The service that finds the reason sets and clears it.
 */
@Injectable()
export class MaintenanceMode {
  private reason: string | undefined;

  /** A sentence for operators; undefined while calls are served. */
  get because(): string | undefined {
    return this.reason;
  }

  set(reason: string | undefined): void {
    this.reason = reason;
  }

  /** @throws Problem UNAVAILABLE while nothing may be changed */
  assertServing(): void {
    if (this.reason !== undefined) throw new Problem('UNAVAILABLE', this.reason, { headers: { 'Retry-After': '30' } });
  }
}
