import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { jcs } from '../../../src/domain/audit/entry/jcs.js';
import { newId } from '../../../src/domain/ids.js';
import type { ColumnClass } from '../../../src/platform/audit/personal-data/personal-data-holders.js';
import { type Column, columnsOf, wronglySaid } from '../../support/routes/columns.js';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.js';
import { anEraser, type Eraser } from '../../support/erasure/eraser.js';
import { LOG_COLUMNS } from '../../support/log/log-columns.js';

const NAME = 'Wilhelmine Abendroth';
const EMAIL = 'w.abendroth@example.org';
const ADDRESS = '203.0.113.77';
const FOUND = new RegExp([NAME, EMAIL, ADDRESS].map((text) => text.replaceAll('.', String.raw`\.`)).join('|'), 'i');

let database: TestDatabase;
let eraser: Eraser;
let columns: Column[];
const organizationId = newId('org');
const userId = newId('usr');

beforeAll(async () => {
  database = await createTestDatabase();
  columns = await columnsOf(database);
  eraser = await anEraser(database);
});
afterAll(async () => {
  await eraser.close();
  await database.drop();
});

const said = () => [LOG_COLUMNS, ...eraser.holders.map(({ tables }) => tables)];

describe('what every column may hold of people is said', () => {
  test('of each that can hold text, once', () => {
    expect(wronglySaid(columns, said())).toEqual({ unsaid: [], twice: [], absent: [] });
  });

  test('of no table by a holder and by the log', () => {
    const byHolders = eraser.holders.flatMap(({ tables }) => Object.keys(tables));
    expect(Object.keys(LOG_COLUMNS).filter((table) => byHolders.includes(table))).toEqual([]);
  });

  /** A word of a person's that is also the server's must not take the form of what the server made. Agents' metadata are people's. */
  test('of each that is JSON, whether it is so in part', () => {
    const classes = Object.fromEntries(said().flatMap(Object.entries)) as Record<string, Record<string, ColumnClass>>;
    const json = columns.filter(({ type }) => type.startsWith('json'))
      .map(({ table, name }) => [`${table}.${name}`, classes[table]?.[name]]);
    expect(json.filter(([, of]) => of === 'free')).toEqual([['agents.metadata', 'free']]);
    expect(json.filter(([, of]) => of === 'partly').map(([name]) => name).sort()).toEqual([
      'executions.edit', 'executions.error', 'executions.reasons', 'executions.report', 'executions.settlement',
      'hitl_requests.edit_diff', 'hitl_requests.reasons', 'outbox.payload',
    ]);
    expect(classes['idempotency_keys']!['body']).toBe('partly');
  });

  describe('and a column that comes is named', () => {
    let altered: TestDatabase;
    beforeAll(async () => {
      altered = await createTestDatabase();
    });
    afterAll(() => altered.drop());

    // Each with what it is found by.
    test.each<[string, readonly string[]]>([
      ['alter table audit_entries add column comment jsonb', ['audit_entries.comment']],
      ['alter table audit_heads add column remark text', ['audit_heads.remark']],
      ['alter table audit_sweeps add column made_by_name text', ['audit_sweeps.made_by_name']],
      ['alter table migrations add column by varchar(20)', ['migrations.by']],
      ['alter table executions add column more jsonb[]', ['executions.more']],
      ['alter table executions add column others json[]', ['executions.others']],
      ['alter table executions add column from_address inet', ['executions.from_address']],
      ['alter table executions add column network cidr', ['executions.network']],
      ['alter table executions add column doc xml', ['executions.doc']],
      ['alter table executions add column path jsonpath', ['executions.path']],
      ['alter table executions add column found tsvector', ['executions.found']],
      ['alter table executions add column raw bytea', ['executions.raw']],
      ['alter table executions add column short char(4)', ['executions.short']],
      ['alter table executions add column word name', ['executions.word']],
      ['alter table executions add column span int4range', ['executions.span']],
      ['create domain nickname as text; alter table users add column nick nickname', ['users.nick']],
      ['create domain nicknames as nickname[]; alter table users add column nicks nicknames', ['users.nicks']],
      ['create type place as (street text, no integer); alter table users add column home place', ['users.home']],
      ['create schema extra; create table extra.people (id uuid, name text)', ['extra.people.name']],
      ['create view names as select id, name from users', ['names.id', 'names.name']],
      ['create materialized view kept_names as select name, created_at from users', ['kept_names.name']],
      ['create table parted (at date, note text) partition by range (at)', ['parted.note']],
      ['create table part partition of parted default', ['part.note']],
      ['create table more_users (hobby text) inherits (tenants)', ['more_users.hobby']],
    ])('%s', async (statement, names) => {
      await altered.sql(statement);
      expect(wronglySaid(await columnsOf(altered), said()).unsaid).toEqual(expect.arrayContaining([...names]));
    });

    test('of a table of elsewhere', async () => {
      await altered.asSuperuser(
        'create foreign data wrapper nothing', 'create server away foreign data wrapper nothing',
        'create foreign table far (note text) server away',
      );
      expect(wronglySaid(await columnsOf(altered), said()).unsaid).toContain('far.note');
    });

    test('but for what can hold no text', async () => {
      const before = wronglySaid(await columnsOf(altered), said()).unsaid;
      await altered.sql(`create type colour as enum ('red', 'green'); create domain amount as numeric check (value > 0);
        create table numbers (a bigint, b boolean, c timestamptz, d uuid, e colour, f amount, g colour[], h amount[], i xid8, j float8[])`);
      expect(wronglySaid(await columnsOf(altered), said()).unsaid).toEqual(before);
    });

    test('what is said of a column that is gone, or twice, is named too', async () => {
      await altered.sql('alter table users drop column avatar_url cascade');
      const twice = [...said(), { teams: { name: 'free' } }] as const;
      expect(wronglySaid(await columnsOf(altered), twice)).toMatchObject({ absent: ['users.avatar_url'], twice: ['teams.name'] });
    });
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
  tasks: { status: 'cancelled', chain: [], ancestors: [] },
  routing_decisions: { capabilities: [], candidates: [] },
  // Of a kind that nobody takes here: there is no mail server.
  outbox: { kind: 'mail.send' },
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

const isOfPeople = (of: ColumnClass | undefined) => of === 'personal' || of === 'free' || of === 'partly';

/** The column's value: whatever a person wrote, where it may hold such a thing, and else what the column bears. */
function valueOf({ table, name, type, needed }: Column, of: ColumnClass | undefined, row: number): unknown {
  const like = LIKE[table] ?? {};
  if (name in like) return like[name];
  if (name === 'organization_id') return organizationId;
  if (isOfPeople(of)) return writtenAs(type, table, name);
  if (['user_id', 'voter', 'decided_by', 'made_by'].includes(name)) return userId;
  if (of === 'id') return type === 'text[]' ? [`${table}_${row}`] : `${table}_${row}`;
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
  if (type === 'text[]') return [NAME, 'kept', `<${EMAIL}>`];
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
      .filter(([, named]) => Object.values(named).some(isOfPeople));
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
