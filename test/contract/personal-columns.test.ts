import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { jcs } from '../../src/domain/audit/jcs.js';
import { newId } from '../../src/domain/ids.js';
import type { ColumnClass } from '../../src/platform/audit/personal-data.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { anEraser, type Eraser } from '../support/erasing.js';

/** Tables that no holder tells of: the audit log's own, which erases by its own rules, and that of the migrations. */
const OF_THE_LOG = [
  'audit_heads', 'audit_entries', 'audit_subjects', 'audit_tree_queue', 'audit_trees', 'audit_tree_leaves', 'audit_tree_tiles',
  'audit_platform_leaves', 'audit_map_nodes', 'audit_checkpoints', 'audit_signing_keys', 'audit_anchors', 'audit_sweeps',
  'audit_erasure_notes', 'audit_verifications', 'audit_verification_turns', 'migrations',
];

const NAME = 'Wilhelmine Abendroth';
const EMAIL = 'w.abendroth@example.org';
const ADDRESS = '203.0.113.77';
const FOUND = new RegExp([NAME, EMAIL, ADDRESS].map((text) => text.replaceAll('.', String.raw`\.`)).join('|'), 'i');

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly needed: boolean;
  readonly inKey: boolean;
}

let database: TestDatabase;
let eraser: Eraser;
let columns: Column[];
const organizationId = newId('org');
const userId = newId('usr');

beforeAll(async () => {
  database = await createTestDatabase();
  columns = await database.sql<Column & { name: string }>(
    `select c.table_name as table, c.column_name as name, case when c.data_type = 'ARRAY' then c.udt_name else c.data_type end as type,
       c.is_nullable = 'NO' and c.column_default is null and c.is_identity = 'NO' as needed,
       exists (select from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
               where i.indisprimary and i.indrelid = format('%I', c.table_name)::regclass and a.attname = c.column_name) as "inKey"
     from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = 'public' and t.table_type = 'BASE TABLE' order by c.table_name, c.ordinal_position`,
  );
  eraser = await anEraser(database);
});
afterAll(async () => {
  await eraser.close();
  await database.drop();
});

const TEXTS = ['text', 'character varying', 'character', '_text', '_varchar', 'json', 'jsonb', 'bytea'];
const canHoldText = ({ type }: Column) => TEXTS.includes(type);
const classified = () => eraser.holders.flatMap(({ tables }) =>
  Object.entries(tables).flatMap(([table, named]) => Object.entries(named).map(([name, of]) => ({ table, name, of }))));

describe('what every column may hold of people is said', () => {
  test('of each that can hold text, by exactly one holder', () => {
    const said = classified().map(({ table, name }) => `${table}.${name}`);
    const there = columns.filter((column) => canHoldText(column) && !OF_THE_LOG.includes(column.table))
      .map(({ table, name }) => `${table}.${name}`);
    expect(said.toSorted()).toEqual(there.toSorted());
  });

  test('the list of the log names only tables that there are, and none of a holder', () => {
    const tables = new Set(columns.map(({ table }) => table));
    expect(OF_THE_LOG.filter((table) => !tables.has(table))).toEqual([]);
    expect(classified().filter(({ table }) => OF_THE_LOG.includes(table))).toEqual([]);
  });
});

/** What rows have to be like to stand where they stand. */
const SETTLED = { outcome: 'success', by: userId, note: `said ${NAME}`, at: '2026-01-01T00:00:00.000Z' };
const LIKE: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  users: { id: userId, role: 'member', status: 'active' },
  organizations: { id: organizationId, tenant_id: 'tenant_1', separation_of_duties: 'standard' },
  tenants: { id: 'tenant_1', tier: 'teams', status: 'active' },
  stops: { scope: 'organization', made_by_role: 'admin', agent_id: null },
  agents: { risk_level: 'high', status: 'active' },
  capability_grants: { agent_id: 'agt_1', team_id: null, conditions: [], limits: [], reminders: [], revoked_at: '2026-01-01' },
  executions: { status: 'failed', settlement: SETTLED },
  hitl_requests: {
    hitl_mode: 'propose', status: 'cancelled', runs: 'service', separation_of_duties: 'standard', reminders: [], quorum: null,
  },
  outbox: { kind: 'notification.send' },
  erasures: { kind: 'values', state: 'done' },
  rate_quotas: { subject: `address:${ADDRESS}` },
  sessions: { method: 'passkey' },
  user_identities: { claimed_role: 'member' },
  passkeys: { transports: [] },
  passwords: { hash: 'scrypt$32768$8$3$salt$hash' },
  invitations: { role: 'member', delivery: 'mail' },
};
/** Of which there is one for an organization, a person or an address. */
const ALONE = ['users', 'organizations', 'tenants', 'rate_quotas', 'passwords'];
const ROWS = 7;

/** The column's value: whatever a person wrote, where it may hold such a thing, and else what the column bears. */
function valueOf({ table, name, type, needed }: Column, of: ColumnClass | undefined, row: number): unknown {
  const like = LIKE[table] ?? {};
  if (name in like) return like[name];
  if (name === 'organization_id') return organizationId;
  if (of === 'personal' || of === 'free') return writtenAs(type, table, name);
  if (['user_id', 'voter', 'decided_by', 'made_by'].includes(name)) return userId;
  if (of === 'id') return `${table}_${row}`;
  if (of === 'digest' || of === 'secret') return row.toString(16).padStart(64, '0');
  if (!needed) return undefined;
  if (of === 'policy' || type === 'json') return {};
  if (of === 'code') return `code${row}`;
  return { boolean: false, integer: 1, smallint: 1, bigint: row, numeric: 1 }[type] ?? '2026-01-01T00:00:00.000Z';
}

/** Columns that hold the RFC 8785 text of a value. */
const CANONICAL = ['input', 'context', 'output', 'requested_input', 'body'];

function writtenAs(type: string, table: string, name: string): unknown {
  const members = { [EMAIL]: 1, to: [{ name: NAME.toUpperCase() }], from: `call from ${ADDRESS}`, amount: 5 };
  if (type === 'json' || type === 'jsonb') return members;
  if (type === '_text') return [NAME, 'kept', `<${EMAIL}>`];
  if (table === 'users') return name.startsWith('email') ? EMAIL : NAME;
  return CANONICAL.includes(name) ? jcs(members) : `${NAME} <${EMAIL}> at ${ADDRESS}`;
}

async function seed(table: string, named: Readonly<Record<string, ColumnClass>>, row: number): Promise<void> {
  const own = columns.filter((column) => column.table === table);
  const values = own.map((column) => [column, valueOf(column, named[column.name], row)] as const)
    .filter(([, value]) => value !== undefined);
  const key = own.filter(({ inKey }) => inKey).map(({ name }) => name);
  const names = values.map(([{ name }]) => name);
  await database.sql(
    `insert into ${table} (${names.join(', ')}) values (${names.map((_, i) => `$${i + 1}`).join(', ')})
     on conflict (${key.join(', ')}) do update set ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    values.map(([{ type }, value]) => (type.startsWith('json') ? JSON.stringify(value) : value)),
  );
}

const textOf = async (table: string) =>
  (await database.sql<{ text: string }>(`select t::text as text from ${table} t`)).map(({ text }) => text).join('\n');

describe('erasing a person leaves nothing of them', () => {
  beforeAll(async () => {
    await database.sql('insert into audit_heads (organization_id, chain) values ($1, $2)', [organizationId, `sys_${organizationId}`]);
    await database.sql(
      `insert into audit_heads (organization_id, chain) select $1, 'agents_' || n from generate_series(1, 9) n`, [organizationId]);
  });

  test('in any column of any table, however small the steps', async () => {
    const holding = eraser.holders.flatMap(({ tables }) => Object.entries(tables))
      .filter(([, named]) => Object.values(named).some((of) => of === 'personal' || of === 'free'));
    expect(holding.length).toBeGreaterThan(10);
    for (const [table, named] of holding) {
      const rows = ALONE.includes(table) ? 1 : ROWS;
      for (let row = 1; row <= rows; row++) await seed(table, named, row);
      expect(`${table}: ${await textOf(table)}`).toMatch(FOUND);
    }

    const what = { organizationId, userId, texts: [NAME, EMAIL, ADDRESS] };
    const { counts, calls } = await eraser.erase(what, 3);
    expect(calls).toBeGreaterThan(20);
    for (const [table] of holding) expect(`${table}: ${await textOf(table)}`).not.toMatch(FOUND);
    expect(counts).toMatchObject({
      profiles: 1, agents: ROWS, executions: ROWS, requests: ROWS, votes: ROWS, answers: ROWS, effects: ROWS, sessions: ROWS,
      identities: ROWS, passkeys: ROWS, invitations: ROWS,
    });
    expect(Object.keys(counts).filter((kind) => kind.startsWith('left'))).toEqual([]);
    // Doing it again changes nothing.
    expect((await eraser.erase(what)).counts).toEqual({});
  });
});

test('what others wrote of others stays', async () => {
  const [agent] = await database.sql<{ metadata: unknown; tags: string[] }>(
    'select metadata, tags from agents where organization_id = $1', [organizationId],
  );
  expect(agent!.tags).toEqual(['[erased]', 'kept', '[erased]']);
  expect(agent!.metadata).toEqual({ '[erased]': 1, to: [{ name: '[erased]' }], from: '[erased]', amount: 5 });
  const [execution] = await database.sql<{ input: string; settlement: object }>(
    'select input, settlement from executions where organization_id = $1', [organizationId],
  );
  expect(execution!.input).toBe('{"[erased]":1,"amount":5,"from":"[erased]","to":[{"name":"[erased]"}]}');
  expect(execution!.settlement).toEqual({ ...SETTLED, note: '[erased]' });
  const [user] = await database.sql('select id, email, name, avatar_url, status from users where id = $1', [userId]);
  expect(user).toEqual({ id: userId, email: null, name: null, avatar_url: null, status: 'erased' });
});
