import { eventually } from '../running/eventually.js';
import type { TestServer } from '../servers/server.js';

/** Digests of all rows by table. */
export type StoredState = Readonly<Record<string, string>>;

// The platform's own chain takes what guards write about refused calls, so it grows by design.
const NOT_OURS: Readonly<Record<string, string>> = {
  audit_entries: `where event not like 'auth.%'`,
  audit_heads: `where organization_id <> 'org_platform'`,
  audit_subjects: `where event not like 'auth.%'`,
};

// The leader grows these from the entries, a moment later and by itself; what the entries say is compared. And each server shows that it
// lives.
const GROWN_BY_SERVERS: ReadonlySet<string> = new Set([
  'server_heartbeats',
  'audit_tree_queue', 'audit_trees', 'audit_tree_leaves', 'audit_tree_tiles', 'audit_platform_leaves', 'audit_map_nodes',
  'audit_checkpoints', 'audit_signing_keys', 'audit_anchors',
]);

/**
 * What the database holds, by content: every table of the schema, but for the entries that the guards write of
 * authentication, and for the trees. Two equal states mean that nothing in between stored, changed or removed anything.
 */
export async function storedState(server: TestServer): Promise<StoredState> {
  await notificationsRecorded(server);
  const tables = await server.sql<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = current_schema() and table_type = 'BASE TABLE' order by 1`,
  );
  if (tables.length < 10) throw new Error(`only ${tables.length} tables were found: this looks at the wrong schema`);
  return digests(server, tables.map(({ name }) => name), (name) => NOT_OURS[name] ?? '');
}

/** What was done before is turned into notifications by a worker, a moment later. Where no server runs it is never, and not waited for. */
async function notificationsRecorded({ sql }: TestServer): Promise<void> {
  const recorded = async () => {
    const [row] = await sql<{ left: number }>(`select count(*)::integer as left from outbox
      where kind = 'notification.send' and available_at <= clock_timestamp() + interval '30 s'`);
    if (row!.left > 0) throw new Error(`${row!.left} events are not recorded yet`);
  };
  await eventually(recorded, { within: 5_000 }).catch(() => undefined);
}

/** What the database holds of some organizations: their rows in every table that says whose a row is, and they themselves. */
export async function storedStateOf(server: TestServer, organizationIds: readonly string[]): Promise<StoredState> {
  await notificationsRecorded(server);
  const whose = (name: string) => `where ${name === 'organizations' ? 'id' : 'organization_id'} = any ($1)`;
  return digests(server, await organizationTables(server), whose, [organizationIds]);
}

/** All in one statement: a state is asked for before and after each of many calls. */
async function digests(
  server: TestServer, tables: readonly string[], where: (name: string) => string, parameters: readonly unknown[] = [],
): Promise<StoredState> {
  const statement = tables.filter((name) => !GROWN_BY_SERVERS.has(name)).map((name) =>
    `select '${name}' as name,
       count(*)::text || ' rows ' || md5(coalesce(string_agg(t::text, chr(10) order by t::text), '')) as digest
     from "${name}" t ${where(name)}`).join(' union all ');
  const rows = await server.sql<{ name: string; digest: string }>(statement, parameters);
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]));
}

/** Tables whose rows say which organization they belong to, and the organizations themselves. */
export async function organizationTables(server: TestServer): Promise<string[]> {
  const tables = await server.sql<{ name: string }>(
    `select table_name as name from information_schema.columns
     where table_schema = current_schema() and column_name = 'organization_id' order by 1`,
  );
  if (tables.length < 10) throw new Error(`only ${tables.length} tables were found: this looks at the wrong schema`);
  return [...tables.map(({ name }) => name), 'organizations'];
}
