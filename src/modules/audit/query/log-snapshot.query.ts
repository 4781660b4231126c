import '../../../platform/database/statements/json-columns.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import { newClient, UNLIMITED_SESSION } from '../../../platform/database/new-client.js';

/** The log as it stood at one moment, on a connection of its own. */
export interface LogSnapshot {
  readonly run: ReadStatement;
  close(): Promise<void>;
}

/**
 * Limits in place of those of ordinary calls, in milliseconds. The idle one stands above the time that a slow reader takes for what is
 * read at once: it ends what a frozen server left open, so that no snapshot keeps old rows alive for ever.
 */
const LIMITED = `-c statement_timeout=60000 -c lock_timeout=4000 -c idle_in_transaction_session_timeout=600000 ${UNLIMITED_SESSION}`;

/**
 * Opens a reading of one moment. Past the pool: a slow reader holds a connection for minutes, which no call may have to wait for.
 *
 * @throws Error where there is no connection to be had
 */
export async function openSnapshot(databaseUrl: string, name: string): Promise<LogSnapshot> {
  const client = newClient({ url: databaseUrl, name, session: LIMITED });
  // A connection that breaks also fails the statement under way, which says so.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('start transaction isolation level repeatable read, read only');
    // The snapshot is taken by the first statement, not by the start.
    await client.query('select 1 from instance');
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
  const run: ReadStatement = async (sql, parameters) => (await client.query<object>(sql, [...parameters])).rows;
  return { run, close: () => client.end().catch(() => undefined) };
}
