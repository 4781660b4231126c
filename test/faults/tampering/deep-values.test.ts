import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asRoot } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { countersign } from '../../support/servers/command-line.js';
import { erased, erasuresOf, verification } from '../../support/erasure/erasures.js';
import { allSigned, download, verifierKeyOf, verifyBytes } from '../../support/log/exports.js';
import { aPerson, anOrganization } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { ROOT_KEY } from '../../support/servers/test-run.js';

// One change by the owner of the database puts JSON somewhere that nobody can walk through without overflowing the stack. It is named, and
// everything else is answered as ever.

const CUSTOMER = 'Grace Hopper-7f3a91c2';

let server: TestServer;
let organizationId: string;
let personId: string;
let agent: BuiltAgent;
let request: string;

beforeAll(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  organizationId = await anOrganization(server);
  const person = await aPerson(server, 'admin', { organizationId });
  personId = person.id;
  agent = await anAgent(server).inOrganization(organizationId).granted('web.search').granted('email.send', { hitlMode: 'propose' })
    .create();
  const call = (capability: string) => agent.client.post('/api/v1/execute', { capability, input: { to: CUSTOMER } });
  const id = (await call('web.search')).expect(200).text('executionId');
  (await agent.client.post(`/api/v1/executions/${id}/report`, { outcome: 'failure', error: { code: 'X', message: 'no' } })).expect(200);
  request = (await call('email.send')).expect(202).text('hitlRequestId');
  (await person.client.post(`/api/v1/hitl/${request}/approve`, { note: 'ok' }, { query: { wait: 5 } })).expect(200);
  await allSigned(server);
});

afterAll(async () => {
  await server.stop();
});

const deep = (levels: number) => `repeat('[', ${levels}) || repeat(']', ${levels})`;
const TEXT = deep(100_000);
/** As deep as a column of JSON takes it. */
const JSON_TEXT = deep(9_000);
const DISCLOSED = `'[{"d":"' || (disclosures::json -> 0 ->> 'd') || '","pointer":"/metadata/reasons","salt":"AAAAAAAAAAAAAAAAAAAAAA"'
  || ',"value":"' || ${TEXT} || '"}]'`;
const STARTED = `event = 'execution.started'`;

const DEEP: readonly (readonly [where: string, table: string, column: string, value: string, which: string, kind: string])[] = [
  ['disclosures', 'audit_entries', 'disclosures', TEXT, STARTED, 'edited'],
  ['a disclosed value', 'audit_entries', 'disclosures',
    DISCLOSED, STARTED, 'edited'],
  ['a payload', 'audit_entries', 'payload', `replace(payload, '"metadata":{', '"metadata":{"action":' || ${TEXT} || ',')`,
    STARTED, 'edited'],
  ['the payload of a decision', 'audit_entries', 'payload', TEXT, `event = 'hitl.approved'`, 'edited'],
  ['an input', 'executions', 'input', `'{"a":"[erased]","b":' || ${TEXT} || '}'`, 'true', 'incomplete'],
  ['an error', 'executions', 'error', `(${JSON_TEXT})::json`, 'true', 'incomplete'],
  ['reasons', 'executions', 'reasons', `(${JSON_TEXT})::json`, 'true', 'incomplete'],
  ['a report', 'executions', 'report', `('{"outcome":"failure","error":' || ${JSON_TEXT} || '}')::json`, 'report is not null',
    'incomplete'],
  ['a settlement', 'executions', 'settlement', `('{"outcome":"executed","note":' || ${JSON_TEXT} || '}')::json`, 'true',
    'incomplete'],
  ['an edit', 'executions', 'edit', `('{"diff":' || ${JSON_TEXT} || '}')::json`, 'true', 'incomplete'],
  ['the input of a request', 'hitl_requests', 'input', TEXT, 'true', 'incomplete'],
  ['the context of a request', 'hitl_requests', 'context', TEXT, 'true', 'incomplete'],
  ['the reasons of a request', 'hitl_requests', 'reasons', `(${JSON_TEXT})::json`, 'true', 'incomplete'],
  ['the limits of a grant', 'capability_grants', 'limits', `(${JSON_TEXT})::json`, 'true', 'incomplete'],
];

const PATHS = () => [
  '/api/v1/audit', '/api/v1/executions', '/api/v1/hitl?status=approved', `/api/v1/hitl/${request}`, '/api/v1/audit/erasures',
  `/api/v1/agents/${agent.id}/capabilities`,
];

test.each(DEEP)('%s too deep is named, and keeps nobody from an answer', async (_where, table, column, value, which, kind) => {
  const [kept, own] = [`kept_${table}`, `organization_id = '${organizationId}'`];
  await server.database.asSuperuser(
    `create table ${kept} as select organization_id, id, ${column} as was from ${table} where ${own}`,
    `set max_stack_depth = '7MB'`, `update ${table} set ${column} = ${value} where ${own} and ${which}`);
  try {
    for (const path of PATHS()) expect([path, (await asRoot(server).get(path)).status]).toEqual([path, 200]);
    const entries = await server.sql<{ id: string }>(`select id from audit_entries where ${own}`);
    for (const { id } of entries) {
      expect((await asRoot(server).get(`/api/v1/audit/${id}`)).status).toBe(200);
      expect((await asRoot(server).get(`/api/v1/audit/${id}/proof`)).status).toBeLessThan(500);
    }
    const csv = await download(server, ROOT_KEY, '/api/v1/audit/export', { format: 'csv' });
    const personal = await download(server, ROOT_KEY, `/api/v1/audit/${personId}/export`);
    expect([csv.status, personal.status]).toEqual([200, 200]);
    const file = await download(server, ROOT_KEY, '/api/v1/audit/export');
    const alone = await verifyBytes(file.bytes, [await verifierKeyOf(server)]);
    expect(alone.verdict === 'tampered').toBe(table === 'audit_entries');
    const { breaks } = await verification(server);
    expect(breaks.map((one) => one.kind)).toContain(kind);
    const reported = await countersign(['audit', 'verify', '--no-remember', '--database-url', server.database.url]);
    expect([reported.code, reported.stdout]).toEqual([1, expect.stringContaining('tampered')]);
  } finally {
    await server.database.asSuperuser(
      `set max_stack_depth = '7MB'`,
      `update ${table} t set ${column} = k.was from ${kept} k where (t.organization_id, t.id) = (k.organization_id, k.id)`,
      `drop table ${kept}`);
  }
});

test('an erasure comes to its end, and says how much it could not read', async () => {
  await server.database.asSuperuser(
    `update audit_entries set disclosures = ${DISCLOSED} where organization_id = '${organizationId}' and ${STARTED}`,
    `update executions set input = '{"q":"${CUSTOMER}","b":' || ${TEXT} || '}' where organization_id = '${organizationId}'`,
    `set max_stack_depth = '7MB'`,
    `update executions set error = (${JSON_TEXT})::json where organization_id = '${organizationId}'`);
  const values = [CUSTOMER];
  (await asRoot(server).post('/api/v1/audit/erasures', { organizationId, values, reason: 'they asked', dryRun: true })).expect(200);
  const answer = await asRoot(server).post('/api/v1/audit/erasures', { organizationId, values, reason: 'they asked' });
  if (answer.status === 202) {
    const second = await aPerson(server, 'owner', { organizationId });
    (await second.client.post(`/api/v1/audit/erasures/${answer.text('erasure.id')}/confirm`)).expect(200);
  }
  await erased(server);
  const [erasure] = await erasuresOf(asRoot(server));
  expect(erasure).toMatchObject({ state: 'done' });
  expect(erasure!.counts.unreadable).toBeGreaterThan(0);
  const left = await server.sql(`select from executions where strpos(input, '${CUSTOMER}') > 0`);
  expect(left).toEqual([]);
});
