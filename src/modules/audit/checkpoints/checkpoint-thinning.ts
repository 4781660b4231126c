import { Injectable } from '@nestjs/common';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { Janitor, type CleanupStep } from '../../../platform/database/janitor.service.js';
import { now, oldestSince, thinOut } from './checkpoint.store.js';

const HOUR_MS = 60 * 60_000;
const KEPT_MS = 24 * HOUR_MS;
/** After a start all hours are gone through once; so many at a time. */
const HOURS_AT_ONCE = 100;

/** Keeps every checkpoint for a day, then one an hour of each tree. */
@Injectable()
export class CheckpointThinning {
  /** Hours before it have been thinned out. */
  private next = new Date(0);

  constructor(janitor: Janitor) {
    janitor.register(this.thin);
  }

  private readonly thin: CleanupStep = async (manager, limit) => {
    const run: RunStatement = (sql, parameters) => manager.query(sql, [...parameters]);
    const until = (await now(run)).getTime() - KEPT_MS - HOUR_MS;
    let deleted = 0;
    for (let hours = 0; hours < HOURS_AT_ONCE && deleted < limit; hours++) {
      const oldest = await oldestSince(run, this.next);
      const hour = oldest && Math.floor(oldest.getTime() / HOUR_MS) * HOUR_MS;
      if (hour === undefined || hour > until) return deleted;
      deleted += await thinOut(run, new Date(hour), limit - deleted);
      if (deleted < limit) this.next = new Date(hour + HOUR_MS);
    }
    return deleted;
  };
}
