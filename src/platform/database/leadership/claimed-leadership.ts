import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { RunStatement } from '../../auth/credentials/credential-source.js';
import { LEADER_LOCK, type Leadership } from './leadership.js';
import { newClient } from '../new-client.js';

const TRY_EVERY_MS = 50;
const PATIENCE_MS = 30_000;

/**
 * Leads instead of the servers for as long as `work` takes: the one that leads loses its connection, and with it what it had not
 * committed; each of them tries to lead again a moment later. For the command line.
 *
 * @param url past a pooler, as for `DATABASE_LISTEN_URL`
 */
export async function withClaimedLeadership<Result>(
  url: string, work: (lead: Pick<Leadership, 'run' | 'transact'>) => Promise<Result>,
): Promise<Result> {
  const client = newClient({ url, name: 'countersign leader' });
  // A connection that breaks also fails the statement under way, which says so.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await takeLead(client);
    const run: RunStatement = async (sql, parameters) => (await client.query<Record<string, unknown>>(sql, [...parameters])).rows;
    const transact = async <Inner>(inner: (statements: RunStatement) => Promise<Inner>): Promise<Inner> => {
      await client.query('begin');
      try {
        const result = await inner(run);
        await client.query('commit');
        return result;
      } catch (error) {
        await client.query('rollback').catch(() => undefined);
        throw error;
      }
    };
    return await work({ run: (inner) => inner(run), transact });
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function takeLead(client: pg.Client): Promise<void> {
  for (const deadline = performance.now() + PATIENCE_MS; performance.now() < deadline; ) {
    const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [LEADER_LOCK]);
    if (rows[0]!.mine) return;
    await client.query(
      `select pg_terminate_backend(l.pid) from pg_locks l join pg_database d on d.oid = l.database
       where d.datname = current_database() and l.locktype = 'advisory' and l.classid = 0 and l.objid = $1 and l.granted
         and l.pid <> pg_backend_pid()`,
      [LEADER_LOCK],
    );
    await pause(TRY_EVERY_MS);
  }
  throw new Error('no server gave up the lead: stop them, and try again');
}
