import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { InjectDataSource } from '@nestjs/typeorm';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';
import { LOGGER } from '../logging/token.js';

const SWEEP_EVERY_MS = 60_000;
const AT_ONCE = 5_000;
const JANITOR_LOCK = 715_517_003;

/** What is spent, and when. Each statement deletes at most `$1` rows. */
const SPENT = [
  `delete from idempotency_keys where (organization_id, scope) in
     (select organization_id, scope from idempotency_keys where created_at < clock_timestamp() - interval '24 hours' limit $1)`,
  `delete from refreshed_tokens where (organization_id, agent_id, jti) in
     (select organization_id, agent_id, jti from refreshed_tokens where spent_until < clock_timestamp() limit $1)`,
  // Effects that no build here can do, for a week: whoever was to be told would only be confused by then.
  `delete from outbox where (organization_id, id) in
     (select organization_id, id from outbox where created_at < clock_timestamp() - interval '7 days' limit $1)`,
];

/** Deletes what is spent, in batches, on one replica at a time. */
@Injectable()
export class Janitor {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @Interval(SWEEP_EVERY_MS)
  async sweep(): Promise<void> {
    try {
      for (const statement of SPENT) {
        let deleted = AT_ONCE;
        while (deleted === AT_ONCE) deleted = await this.batch(statement);
      }
    } catch (error) {
      this.logger.warn({ err: error }, 'the janitor could not finish; it comes back in a minute');
    }
  }

  private async batch(statement: string): Promise<number> {
    return this.dataSource.transaction(async (manager) => {
      const [{ mine }] = (await manager.query('select pg_try_advisory_xact_lock($1) as mine', [JANITOR_LOCK])) as [{ mine: boolean }];
      if (!mine) return 0;
      const [, count] = (await manager.query(statement, [AT_ONCE])) as [unknown[], number];
      return count;
    });
  }
}
