import '../../../platform/database/statements/json-columns.js';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { StartRefused } from '../../../platform/config/start-refused.js';
import { newClient } from '../../../platform/database/new-client.js';
import { PLATFORM_TREE } from '../../../domain/audit/notes/checkpoint.js';
import { newestCheckpoint } from '../../../modules/audit/checkpoints/checkpoint.query.js';
import type { Manifest, TreeOfBackup } from '../file/manifest.js';
import { NEVER_SET_UP } from '../../command-output.js';
import { COPIED, FIXED_TEXT } from './copied-tables.js';

/** A table with the columns that are copied: those that the database does not compute by itself. */
export interface CopiedTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** About, for showing progress. */
  readonly bytes: number;
}

/** What stands beside the rows, of the same moment. */
export type SnapshotFacts = Pick<Manifest, 'instance' | 'server' | 'migrations' | 'sequences' | 'trees' | 'checkpoint'> & {
  readonly fingerprints: Readonly<Record<string, string>>;
};

/** A database at one moment; calls go on meanwhile, and wait for nothing that is done here. */
export interface BackupSnapshot {
  readonly tables: readonly CopiedTable[];
  readonly facts: SnapshotFacts;
  rowsOf(table: CopiedTable): AsyncIterable<Buffer>;
  close(): Promise<void>;
}

/** @throws StartRefused when the database was never set up */
export async function openBackupSnapshot(url: string): Promise<BackupSnapshot> {
  const client = newClient({ url, name: 'countersign backup' });
  // What breaks the connection also breaks the statement under way, which says so.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(`start transaction isolation level repeatable read, read only; ${FIXED_TEXT}`);
    return {
      tables: await tablesOf(client),
      facts: await factsOf(client),
      rowsOf: ({ name, columns }) => client.query(copyTo(`copy ${name} (${columns.join(', ')}) to stdout`)),
      close: () => client.end().catch(() => undefined),
    };
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

async function tablesOf(client: pg.Client): Promise<CopiedTable[]> {
  const { rows } = await client.query<{ name: string; columns: string[]; bytes: string }>(
    `select c.relname as name, pg_table_size(c.oid)::text as bytes, (
       select array_agg(a.attname::text order by a.attnum) from pg_attribute a
       where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns
     from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname = any($1)
     order by c.relname`,
    [COPIED],
  );
  return rows.map((row) => ({ ...row, bytes: Number(row.bytes) }));
}

async function factsOf(client: pg.Client): Promise<SnapshotFacts> {
  const run: RunStatement = async (sql, parameters) =>
    (await client.query<Record<string, unknown>>(sql, [...parameters])).rows;
  const [{ server } = {}] = await run(`select current_setting('server_version') as server`, []);
  const migrations = await run('select name from migrations order by id', []);
  const checkpoint = await newestCheckpoint(run, PLATFORM_TREE);
  return {
    ...await instanceFacts(run),
    server: server as string,
    migrations: migrations.map(({ name }) => name as string),
    sequences: await sequencesOf(run),
    trees: await treesOf(run),
    checkpoint: checkpoint === undefined ? null : { size: checkpoint.size, note: checkpoint.note },
  };
}

/** @throws StartRefused when there is no installation */
export async function instanceFacts(run: RunStatement): Promise<Pick<SnapshotFacts, 'instance' | 'fingerprints'>> {
  const [row] = await run('select name as instance, secret_fingerprints as fingerprints from instance', []);
  if (!row) throw new StartRefused(NEVER_SET_UP);
  return row as unknown as Pick<SnapshotFacts, 'instance' | 'fingerprints'>;
}

/** How far each tree of the log has come, by organization; the platform's stands among them. */
export async function treesOf(run: RunStatement): Promise<TreeOfBackup[]> {
  const rows = await run(
    `select t.organization_id as tree, t.size::text as size, t.root as root from audit_trees t order by t.organization_id collate "C"`, [],
  );
  return rows.map(({ tree, size, root }) => ({ tree: tree as string, size: Number(size), root: root as string }));
}

/** Sequences stand outside of any moment: they may be ahead of the rows, which is what they are for. */
async function sequencesOf(run: RunStatement): Promise<Manifest['sequences']> {
  const rows = await run(
    `select c.relname as "table", a.attname as "column", s.last_value::text as value
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attidentity <> ''
     join pg_sequences s on s.schemaname = current_schema()
       and format('%I.%I', s.schemaname, s.sequencename)::regclass = pg_get_serial_sequence(c.oid::regclass::text, a.attname)::regclass
     where c.relnamespace = current_schema()::regnamespace and s.last_value is not null order by 1, 2`, [],
  );
  return rows.filter(({ table }) => COPIED.includes(table as string))
    .map(({ table, column, value }) => ({ table: table as string, column: column as string, value: Number(value) }));
}
