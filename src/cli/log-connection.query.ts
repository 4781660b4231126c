import pg from 'pg';
import type { LogSource } from '../domain/audit/verify.js';
import type { ReadStatement } from '../platform/audit/record-keepers.js';
import { SNAPSHOT, sqlLogSource } from '../modules/audit/log-source.query.js';

/** Reads the log of a database as it stands at one moment, past any server. Nothing is written. */
export async function readingLog<Result>(
  databaseUrl: string,
  read: (source: LogSource, run: ReadStatement) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'countersign audit verify',
    connectionTimeoutMillis: 5_000,
  });
  // A connection that breaks also fails the statement under way, which says so.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('begin');
    for (const statement of SNAPSHOT) await client.query(statement);
    const run = async (sql: string, parameters: readonly unknown[]) => (await client.query<object>(sql, [...parameters])).rows;
    return await read(sqlLogSource(run, 'all'), run);
  } finally {
    await client.end().catch(() => undefined);
  }
}
