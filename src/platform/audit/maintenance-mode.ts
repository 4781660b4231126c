import { Injectable } from '@nestjs/common';
import { Problem } from '../http/reply/problem.js';

/**
 * Why this installation serves nobody at the moment: its database is behind an anchor, say. In memory, so that a call may ask; whoever
 * finds the reason, or finds it gone, says so here.
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
