import pg from 'pg';
import type { TestDatabase } from '../servers/database.js';
import { eventually } from '../running/eventually.js';

/** That of src/platform/database/leadership/leadership.ts. */
const LEADER_LOCK = 715_517_006;

/** Who leads: the database's process ids of those that hold the lock, one at most. */
export async function leaders(database: TestDatabase): Promise<number[]> {
  const rows = await database.sql<{ pid: number }>(`${HOLDERS} and l.granted`, [LEADER_LOCK]);
  return rows.map(({ pid }) => pid);
}

const HOLDERS = `select l.pid from pg_locks l join pg_database d on d.oid = l.database
  where d.datname = current_database() and l.locktype = 'advisory' and l.classid = 0 and l.objid = $1`;

/**
 * Does something while no server on this database leads: nothing is integrated, signed or published meanwhile, so that what is copied
 * can be put back. What the leader had begun is finished, or undone, before.
 */
export async function withoutLeader<Result>(database: TestDatabase, work: () => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: database.url }) as pg.Client & { readonly processID: number };
  await client.connect();
  try {
    // In line first, then the holder goes: nobody comes between.
    const taken = client.query('select pg_advisory_lock($1)', [LEADER_LOCK]);
    taken.catch(() => undefined);
    await eventually(async () => {
      const rows = await database.sql(HOLDERS, [LEADER_LOCK]);
      if (!rows.some(({ pid }) => pid === client.processID)) throw new Error('not in line yet');
    });
    await database.sql(
      `select pg_terminate_backend(held.pid) from (${HOLDERS} and l.granted and l.pid <> $2) held`,
      [LEADER_LOCK, client.processID],
    );
    await taken;
    return await work();
  } finally {
    await client.end();
  }
}
