import '../../../platform/database/statements/json-columns.js';
import type { DataSource } from 'typeorm';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { newClient } from '../../../platform/database/new-client.js';
import { pipelined } from '../../../platform/database/transaction/pipelined.js';

/** Begins a reading of one moment. */
export const ONE_MOMENT = 'start transaction isolation level repeatable read, read only';
/** The limits of ordinary calls do not fit a long reading. The idle one ends what a frozen server has left open. */
export const LONG_READING = `${ONE_MOMENT}; set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 60000`;

/**
 * Reads as of one moment, on a connection of the pool.
 *
 * @param begin opens the transaction; sent in one go with the first statement of the reading
 */
export async function readAtOneMoment<Result>(
  dataSource: DataSource, read: (run: RunStatement) => Promise<Result>, begin = ONE_MOMENT,
): Promise<Result> {
  const runner = dataSource.createQueryRunner();
  await runner.connect();
  try {
    const run: RunStatement = (sql, parameters) => runner.query(sql, [...parameters]) as ReturnType<RunStatement>;
    const [, result] = await pipelined([runner.query(begin), read(run)]);
    await runner.query('commit');
    return result;
  } catch (error) {
    await runner.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    await runner.release();
  }
}

/** A connection of its own that stands at one moment, for as long as somebody reads: no call may have to wait for a slow reader. */
export interface LogSnapshot {
  readonly run: RunStatement;
  /** Names the moment, for other connections to stand at, too. */
  export(): Promise<string>;
  close(): Promise<void>;
}

/** Above the longest that any single batch takes, below what the transaction may idle. */
const SIGN_OF_LIFE_MS = 20_000;

/**
 * Opens a snapshot of this moment, or of the one that was exported.
 *
 * @param name as `pg_stat_activity` shows it
 * @throws Error when the database cannot be reached
 */
export async function openSnapshot(databaseUrl: string, name: string, exported?: string): Promise<LogSnapshot> {
  const client = newClient({ url: databaseUrl, name });
  // A connection that breaks also fails the statement under way, which says so.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(LONG_READING);
    // A snapshot is taken by the first statement, not by the start.
    await client.query(exported === undefined ? 'select' : `set transaction snapshot ${client.escapeLiteral(exported)}`);
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
  // Its reader may be slow, and while other threads read this one may have nothing to say for long.
  const alive = setInterval(() => void client.query('select').catch(() => undefined), SIGN_OF_LIFE_MS).unref();
  return {
    run: async (sql, parameters) => (await client.query<Record<string, unknown>>(sql, [...parameters])).rows,
    export: async () => (await client.query<{ name: string }>('select pg_export_snapshot() as name')).rows[0]!.name,
    close: async () => {
      clearInterval(alive);
      await client.end().catch(() => undefined);
    },
  };
}
