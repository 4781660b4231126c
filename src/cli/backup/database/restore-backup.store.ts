import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { DataSource, MigrationExecutor, type DataSourceOptions } from 'typeorm';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { StartRefused } from '../../../platform/config/start-refused.js';
import { MIGRATION_LOCK, OLDEST_POSTGRESQL, dataSourceOptions } from '../../../platform/database/data-source.js';
import { enterMaintenance } from '../../../modules/organizations/installation/maintenance-mode.store.js';
import type { Manifest } from '../file/manifest.js';
import type { TableContent } from '../file/read-backup.js';
import { FIXED_TEXT } from './copied-tables.js';
import { withoutIndexes } from './deferred-indexes.store.js';

const MAINTENANCE_REASON = 'This database was restored from a backup of SINCE: what happened after it is missing. '
  + 'Run `countersign recover`, which shows what that means, and with --accept-loss puts it into service.';

export interface RestoreOrder {
  readonly url: string;
  readonly manifest: Manifest;
  readonly parts: () => AsyncIterable<TableContent>;
  /** Looks at what stands in the database, before it stands there for others. What it throws undoes everything. */
  readonly inspect: (run: RunStatement) => Promise<void>;
  readonly onBytes: (bytes: number) => void;
}

/**
 * Brings a backup into an empty database, in one transaction: whatever goes wrong, or ends the process, leaves it as empty as it was.
 * From its commit on the database is in maintenance mode.
 *
 * @throws StartRefused when the database is not empty, or the backup of a schema that this version does not know
 */
export async function restoreBackup(order: RestoreOrder): Promise<void> {
  const { manifest } = order;
  const options = dataSourceOptions({ url: order.url, poolSize: 1, connectTimeoutMs: 5_000, withoutLimits: true });
  // A stream of rows needs the connection for itself.
  const extra = { ...options.extra as object, pipeline: false, stream: undefined };
  const dataSource = new DataSource({ ...options, extra } as DataSourceOptions);
  await dataSource.initialize();
  const runner = dataSource.createQueryRunner();
  try {
    const client = await runner.connect() as pg.PoolClient;
    assertKnown(dataSource, manifest);
    const executor = new MigrationExecutor(dataSource, runner);
    const run: RunStatement = async (sql, parameters) => (await client.query<Record<string, unknown>>(sql, [...parameters])).rows;
    await runner.startTransaction();
    await run(FIXED_TEXT, []);
    // Servers that start meanwhile wait for it, and find what was restored.
    await run('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await assertEmpty(run);
    await migrate(executor, manifest.migrations);
    await loadRows(client, run, order);
    await migrate(executor);
    await run('analyze', []);
    await enterMaintenance(run, MAINTENANCE_REASON.replace('SINCE', manifest.madeAt));
    await order.inspect(run);
    await runner.commitTransaction();
  } catch (error) {
    if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  } finally {
    await runner.release().catch(() => undefined);
    await dataSource.destroy().catch(() => undefined);
  }
}

async function assertEmpty(run: RunStatement): Promise<void> {
  const [server] = await run(
    `select current_setting('server_version_num')::integer as version, current_setting('server_encoding') as encoding`, []);
  const { version, encoding } = server as { version: number; encoding: string };
  if (version < OLDEST_POSTGRESQL) {
    throw new StartRefused(`PostgreSQL 15 or newer is needed; this server is ${Math.floor(version / 10_000)}`);
  }
  if (encoding !== 'UTF8') throw new StartRefused(`the database has the encoding ${encoding}: make it with UTF8`);
  const found = await run(
    `select x.name from (
       select c.oid, c.relname::text as name, 'pg_class'::regclass as kind from pg_class c
       where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
       union all
       select p.oid, p.proname::text, 'pg_proc'::regclass from pg_proc p where p.pronamespace = current_schema()::regnamespace) x
     where not exists (select from pg_depend d where d.classid = x.kind and d.objid = x.oid and d.deptype = 'e')
     order by x.name limit 3`, []);
  if (found.length === 0) return;
  const names = found.map(({ name }) => String(name)).join(', ');
  throw new StartRefused(`the database is not empty (${names}): make a new one; a backup is restored into nothing else`);
}

/** @throws StartRefused where the backup's schema is newer than what this version can make */
function assertKnown({ migrations: known }: DataSource, { migrations, version }: Manifest): void {
  const unknown = migrations.find((name) => !known.some((one) => one.name === name));
  if (unknown === undefined) return;
  throw new StartRefused(`this backup was made by version ${version}, whose schema this version does not know (${unknown}): `
    + 'restore it with that version or a newer one');
}

async function migrate(executor: MigrationExecutor, wanted?: readonly string[]): Promise<void> {
  const pending = await executor.getPendingMigrations();
  for (const migration of pending) if (wanted?.includes(migration.name) ?? true) await executor.executeMigration(migration);
}

/** Triggers would write what stands in the backup a second time. The tables are of this transaction, so their rows are frozen at once. */
async function loadRows(client: pg.PoolClient, run: RunStatement, { manifest, parts, onBytes }: RestoreOrder): Promise<void> {
  const tables = new Map(manifest.tables.map((table) => [table.name, table]));
  await assertTables(run, manifest);
  for (const name of tables.keys()) await run(`alter table ${name} disable trigger user`, []);
  const makeIndexes = await withoutIndexes(run, [...tables.keys()]);
  const loaded = new Map<string, number>();
  let bytes = 0;
  for await (const { table, rows } of parts()) {
    const copy = client.query(copyFrom(`copy ${table} (${tables.get(table)!.columns.join(', ')}) from stdin with (freeze)`));
    const counted = async function* () {
      for await (const piece of rows) {
        onBytes((bytes += piece.length));
        yield piece;
      }
    };
    await pipeline(counted, copy as Writable);
    loaded.set(table, (loaded.get(table) ?? 0) + copy.rowCount);
  }
  await makeIndexes();
  for (const { name, rows } of manifest.tables) {
    if ((loaded.get(name) ?? 0) !== rows) throw new Error(`${name} has ${loaded.get(name) ?? 0} rows of ${rows} after it was loaded`);
    await run(`alter table ${name} enable trigger user`, []);
  }
  for (const { table, column, value } of manifest.sequences) {
    await run('select setval(pg_get_serial_sequence($1, $2)::regclass, $3)', [table, column, value]);
  }
}

/** What the manifest names becomes a part of statements: it has to be what those migrations have made. */
async function assertTables(run: RunStatement, { tables, sequences }: Manifest): Promise<void> {
  const rows = await run(
    `select c.relname::text || '.' || a.attname::text as name, a.attidentity <> '' as numbered
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'`, []);
  const names = new Set(rows.map(({ name }) => name));
  const numbered = new Set(rows.filter((row) => row['numbered']).map(({ name }) => name));
  const named = tables.flatMap((table) => table.columns.map((column) => `${table.name}.${column}`));
  const isKnown = named.every((one) => names.has(one)) && sequences.every(({ table, column }) => numbered.has(`${table}.${column}`));
  if (!isKnown || new Set(tables.map(({ name }) => name)).size < tables.length) {
    throw new StartRefused('this backup names tables or columns that its own schema does not have');
  }
}
