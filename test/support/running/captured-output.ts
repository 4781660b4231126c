import pg from 'pg';
import { eventually } from './eventually.js';
import type { TestDatabase } from '../servers/database.js';

/**
 * Waits until a statement `… for update` finds a row, and keeps it: whoever wants to change that row waits, at the moment at which the
 * statement has found it, until `then` has ended.
 */
export async function whileCaught<Result>(
  database: TestDatabase, statement: string, then: () => Promise<Result>, { within = 120_000 } = {},
): Promise<Result> {
  const holder = new pg.Client({ connectionString: database.url });
  // A proof that kills whatever it likes may end this one's server as well.
  holder.on('error', () => undefined);
  await holder.connect();
  try {
    await eventually(async () => {
      await holder.query('begin');
      const { rowCount } = await holder.query(statement);
      if (rowCount) return;
      await holder.query('rollback');
      throw new Error(`nothing was found by ${statement}`);
    }, { within, every: 1 });
    return await then();
  } finally {
    await holder.query('rollback').catch(() => undefined);
    await holder.end().catch(() => undefined);
  }
}
