import pg from 'pg';
import type { Finding } from '../../../src/domain/audit/integrity/findings.js';
import type { PreparedEntry } from '../../../src/domain/audit/entry/prepare-entry.js';
import { appendLocked } from '../log/append-past.js';
import type { TestDatabase } from '../servers/database.js';
import { verified } from './instance.js';

/** A connection of whoever owns a database, to try out on it what they could do. */
export interface TryingOut {
  /** Makes the changes past every trigger, verifies what stands then with all checks, and undoes it. */
  breaksAfter(...changes: readonly (string | PreparedEntry)[]): Promise<readonly Finding[]>;
  end(): Promise<void>;
}

/** A change is a statement, or an entry that is appended as the function of the database does it, so that its hash fits. */
export async function tryingOut({ superuserUrl }: Pick<TestDatabase, 'superuserUrl'>): Promise<TryingOut> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  const run = async (sql: string, parameters: readonly unknown[] = []) =>
    (await client.query<Record<string, unknown>>(sql, [...parameters])).rows;
  const breaksAfter: TryingOut['breaksAfter'] = async (...changes) => {
    await run('begin isolation level repeatable read');
    try {
      await run('set local session_replication_role = replica');
      for (const change of changes) await (typeof change === 'string' ? run(change) : appendLocked(client, [change]));
      return (await verified(run, 'all', [], { judged: true })).breaks;
    } finally {
      await run('rollback');
    }
  };
  return {
    // A server that writes the same row meanwhile ends the transaction (40001); whoever owns a database tries again.
    breaksAfter: async (...changes) => {
      for (let tries = 1; ; tries++) {
        try {
          return await breaksAfter(...changes);
        } catch (error) {
          if ((error as { code?: string }).code !== '40001' || tries === 5) throw error;
        }
      }
    },
    end: () => client.end(),
  };
}
