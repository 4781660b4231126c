import '../../../../platform/database/statements/json-columns.js';
import { newClient } from '../../../../platform/database/new-client.js';
import type { ReadStatement } from '../../../../platform/audit/record-keepers.js';
import { SNAPSHOT } from './log-source.query.js';

/** A connection of its own that stands at one moment, for as long as somebody reads. */
export interface SnapshotConnection {
  readonly run: ReadStatement;
  /** Names the moment, for other connections to stand at, too. */
  export(): Promise<string>;
  end(): Promise<void>;
}

/** Above the longest that any single batch takes, below what the transaction may idle (`SNAPSHOT`). */
const SIGN_OF_LIFE_MS = 20_000;

/**
 * Opens one: at this moment, or at the one that was exported.
 *
 * @throws Error when the database cannot be reached
 */
export async function snapshotConnection(databaseUrl: string, exported?: string): Promise<SnapshotConnection> {
  const client = newClient({ url: databaseUrl, name: 'countersign audit verify' });
  // A connection that breaks also fails the statement under way, which says so.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('begin');
    for (const statement of SNAPSHOT) await client.query(statement);
    if (exported !== undefined) await client.query(`set transaction snapshot ${client.escapeLiteral(exported)}`);
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
  // While other threads read, this one may have nothing to say for long.
  const alive = setInterval(() => void client.query('select').catch(() => undefined), SIGN_OF_LIFE_MS).unref();
  return {
    run: async (sql, parameters) => (await client.query<object>(sql, [...parameters])).rows,
    export: async () => (await client.query<{ name: string }>('select pg_export_snapshot() as name')).rows[0]!.name,
    end: async () => {
      clearInterval(alive);
      await client.end().catch(() => undefined);
    },
  };
}
