import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asRoot } from '../../support/http/actors.js';
import { anAgent } from '../../support/builders/agents.js';
import { eventually } from '../../support/running/eventually.js';
import { anOrganization } from '../../support/builders/people.js';
import { aged, archiveFolder, swept } from '../../support/retention/retention.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { tryingOut, type TryingOut } from '../../support/tampering/attempt.js';
import { integrityOf } from '../../support/log/verified-log.js';

// Whoever owns the database can put anything into it that its columns take, and make room for nothing where there must be something. None
// of that keeps a verification from its answer, nor from naming what else was done.

const PATIENT = { every: 100 };

let server: TestServer;
let owner: TryingOut;
let organizationId: string;
/** In which something was swept. */
let sweptId: string;

beforeAll(async () => {
  const archive = await archiveFolder();
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1', AUDIT_ARCHIVE: archive } });
  sweptId = await anOrganization(server);
  const old = await anAgent(server).inOrganization(sweptId).granted('web.search').create();
  (await old.client.post('/api/v1/execute', { capability: 'web.search', input: { q: 'steel' } })).expect(200);
  await aged(server.database);
  await swept(server.database, archive);
  organizationId = await anOrganization(server);
  const agent = await anAgent(server).inOrganization(organizationId).granted('web.search').granted('file.delete', { hitlMode: 'block' })
    .granted('email.send', { hitlMode: 'propose' }).create();
  const call = async (capability: string) => agent.client.post('/api/v1/execute', { capability, input: { q: 'steel' } });
  const id = (await call('web.search')).expect(200).text('executionId');
  const report = { outcome: 'success', output: { sent: true } };
  (await agent.client.post(`/api/v1/executions/${id}/report`, report)).expect(200);
  await call('file.delete');
  const request = (await call('email.send')).expect(202).text('hitlRequestId');
  (await asRoot(server).post(`/api/v1/hitl/${request}/approve`, { note: 'fine' }, { query: { wait: 5 } })).expect(200);
  await eventually(async () => expect(await integrityOf(server.database.url)).toMatchObject({ verdict: 'valid' }), PATIENT);
  owner = await tryingOut(server.database);
});

afterAll(async () => {
  await owner.end();
  await server.stop();
});

const TIMES = [`'infinity'`, `'-infinity'`, `'290000-01-01'`];
const LISTS = [`'null'`, `'{}'`, `'"x"'`, `'[null]'`, `'[{}]'`, `'["\\ud800"]'`, `'["\\u0000"]'`, `'[1e999]'`];
const OBJECTS = [`'null'`, `'[]'`, `'"x"'`, `'[null]'`, `'{"x":"\\ud800"}'`, `'{"\\u0000":1}'`];

/** As deep as JSON may be read, and deeper. */
const DEEP = [128, 129, 256, 257, 5_000].map((levels) => `(repeat('[', ${levels}) || repeat(']', ${levels}))::json`);

const own = () => `organization_id = '${organizationId}'`;
const first = (table: string) => `ctid = (select ctid from ${table} where ${own()} limit 1)`;
const ofSweep = () => `organization_id = '${sweptId}'`;
/** Table, column, of which rows, the values, and how what is wrong with them is called. */
const ODD: readonly (readonly [string, string, () => string, readonly string[], RegExp])[] = [
  ['capability_grants', 'expires_at', () => first('capability_grants'), TIMES, /incomplete/],
  ['capability_grants', 'conditions', () => first('capability_grants'), [...LISTS, 'null'], /incomplete/],
  ['capability_grants', 'limits', () => first('capability_grants'), [...LISTS, 'null'], /incomplete/],
  ['capability_grants', 'quorum', () => first('capability_grants'), LISTS.slice(1), /incomplete/],
  ['executions', 'reasons', own, [...LISTS, 'null'], /incomplete/],
  ['executions', 'error', own, LISTS.slice(1), /incomplete/],
  ['executions', 'report', () => 'report is not null', OBJECTS, /incomplete/],
  ['executions', 'report', () => 'report is not null', [`'{"outcome":"\\u0000"}'`, `'{"outcome":["\\ud800"]}'`], /incomplete/],
  ['executions', 'settlement', own,
    [`'{"outcome":"\\u0000","note":"\\ud800"}'`, `'{"outcome":{},"note":""}'`], /incomplete/],
  ...['reasons', 'error', 'report', 'settlement', 'edit'].map((column) => ['executions', column, own, DEEP, /incomplete/] as const),
  ...['reasons', 'edit_diff'].map((column) => ['hitl_requests', column, own, DEEP, /incomplete/] as const),
  ...['conditions', 'limits', 'quorum'].map((column) =>
    ['capability_grants', column, () => first('capability_grants'), DEEP, /incomplete/] as const),
  ...['payload', 'disclosures'].map((column) => ['audit_entries', column, () => first('audit_entries'), DEEP, /edited/] as const),
  ['audit_sweeps', 'cuts', ofSweep, DEEP, /deleted|chain_removed/],
  ['audit_sweeps', 'checkpoint', ofSweep, DEEP, /deleted/],
  ['audit_sweeps', 'notes', ofSweep, DEEP, /deleted/],
  ['executions', 'edit', () => 'hitl_request_id is not null', [`'{"by":"\\u0000"}'`, `'{"diff":["\\ud800"]}'`], /incomplete/],
  ['hitl_requests', 'reasons', own, [...LISTS, 'null'], /incomplete/],
  ['hitl_requests', 'edit_diff', own, LISTS.slice(1), /incomplete/],
  ['hitl_requests', 'note', own, [`''`, 'null'], /incomplete/],
  ['audit_checkpoints', 'made_at', own, [...TIMES, 'null'], /column_mismatch/],
  ['audit_checkpoints', 'made_at', () => `organization_id = 'platform'`, [...TIMES, 'null'], /column_mismatch/],
  ['audit_checkpoints', 'note', own, [`''`, 'null'], /checkpoint_invalid/],
  ['audit_checkpoints', 'root', () => `organization_id = 'platform'`, [`''`, 'null'], /tree_mismatch/],
  ['audit_checkpoints', 'platform_size', own, ['null', '-1', '9007199254740993'], /column_mismatch/],
  ['audit_sweeps', 'cuts', ofSweep, [...LISTS, 'null', `'[]'`], /deleted|chain_removed/],
  ['audit_sweeps', 'checkpoint', ofSweep, [...OBJECTS, `'{"size":"x"}'`, 'null'], /deleted/],
  ['audit_sweeps', 'notes', ofSweep, [...OBJECTS, `'{"x":null}'`, 'null'], /deleted/],
  ...['id', 'event', 'actor_id', 'payload', 'disclosures', 'hash', 'timestamp'].map((column) =>
    ['audit_entries', column, () => first('audit_entries'), ['null'], /edited|column_mismatch/] as const),
  ...['tail_chains', 'tail_seqs', 'tail_hashes'].map((column) =>
    ['audit_trees', column, own, ['null', `'{}'`, `'{NULL}'`], /tree_mismatch|deleted|inserted/] as const),
  ['audit_trees', 'tail_data', () => `organization_id = 'platform'`, ['null', `'{}'`, `'{NULL}'`], /tree_mismatch/],
  ['audit_trees', 'size', () => `organization_id = 'platform'`,
    ['1000', '9007199254740993', '9223372036854775807', 'null'], /tree_mismatch/],
  ['audit_trees', 'root', () => `organization_id = 'platform'`, ['null', `''`], /tree_mismatch/],
  ...['organization_id', 'size', 'root', 'hash'].map((column) =>
    ['audit_map_nodes', column, () => `depth = 256 and ${own()}`, ['null'], /tree_mismatch/] as const),
  ['audit_map_nodes', 'prefix', () => `depth = 256 and ${own()}`, [`''`, `'\\x00'`], /tree_mismatch/],
];

/** What was done besides; it must be named as ever. */
const BESIDES = 'usr_innocent';
const besides = () =>
  `update audit_entries set actor_id = '${BESIDES}' where ${own()} and ctid = (select max(ctid) from audit_entries where ${own()})`;

test('nothing is wrong before', async () => {
  expect(await owner.breaksAfter()).toEqual([]);
});

test.each(ODD.flatMap(([table, column, where, values, kind]) =>
  values.map((value) => [`${table}.${column} = ${value}`, { table, column, where, value, kind }] as const)))(
  '%s is found, and hides nothing else', async (_name, { table, column, where, value, kind }) => {
    const change = `update ${table} set "${column}" = ${value} where ${where()}`;
    const room = value === 'null' ? [`alter table ${table} alter column "${column}" drop not null`] : [];
    const alone = await owner.breaksAfter(...room, change);
    expect(alone.map((one) => one.kind).join(' ')).toMatch(kind);
    const both = await owner.breaksAfter(...room, besides(), change);
    expect(both.some(({ detail }) => detail.includes('actor'))).toBe(true);
  });
