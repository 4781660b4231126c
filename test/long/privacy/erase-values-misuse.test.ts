import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { erased, erasuresOf } from '../../support/erasure/erasures.js';
import { anOrganization, aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { verifiedLog } from '../../support/log/verified-log.js';

let server: TestServer;
let organizationId: string;
let admin: BuiltPerson;
let agent: BuiltAgent;
let customer: string;

beforeAll(async () => {
  server = await startServer();
});

afterAll(() => server.stop());

beforeEach(async () => {
  organizationId = await anOrganization(server);
  admin = await aPerson(server, 'admin', { organizationId });
  await aPerson(server, 'owner', { organizationId });
  agent = await anAgent(server).inOrganization(organizationId)
    .granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
  customer = `Grace Hopper-${randomBytes(3).toString('hex')}`;
});

const search = (input: object) => agent.client.post('/api/v1/execute', { capability: 'web.search', input });
const ask = (who: Client, values: readonly string[], more: object = {}) =>
  who.post('/api/v1/audit/erasures', { values, reason: 'they asked', ...more });

const inputs = async (): Promise<unknown[]> => {
  const query = { agentId: agent.id, event: 'execution.started', limit: 100 };
  const entries = (await admin.client.get('/api/v1/audit', { query })).expect(200).list('entries') as { metadata: { input: unknown } }[];
  return entries.map(({ metadata }) => metadata.input);
};

describe('who may, and with what', () => {
  test.each(['member', 'viewer'] as const)('a %s may neither ask nor look', async (role) => {
    const { client } = await aPerson(server, role, { organizationId });
    (await ask(client, [customer])).expect(403, 'FORBIDDEN');
    (await client.get('/api/v1/audit/erasures')).expect(403, 'FORBIDDEN');
  });

  test('another organization\'s erasure is not there', async () => {
    const id = (await ask(admin.client, [customer])).expect(200).text('erasure.id');
    const stranger = await aPerson(server, 'owner', { organizationId: await anOrganization(server) });
    (await stranger.client.post(`/api/v1/audit/erasures/${id}/confirm`)).expect(404, 'NOT_FOUND');
    expect(await erasuresOf(stranger.client)).toEqual([]);
    (await ask(stranger.client, [customer], { organizationId })).expect(404, 'NOT_FOUND');
    (await ask(admin.client, [customer], { organizationId: 'org_platform' })).expect(404, 'NOT_FOUND');
  });

  test.each([
    ['no values', { values: [] }], ['21 values', { values: Array.from({ length: 21 }, (_, i) => `value no ${i}`) }],
    ['a short one', { values: ['Grace'] }], ['a short one between white space', { values: [' Grace  '] }],
    ['signs alone', { values: ['------'] }],
    ['a long one', { values: ['x'.repeat(501)] }], ['no text', { values: [42_424_242] }], ['no list', { values: 'Grace Hopper' }],
    ['no reason', { reason: undefined }], ['an empty reason', { reason: ' ' }], ['a dry run in words', { dryRun: 'yes' }],
  ])('%s is 400', async (_what, change) => {
    (await admin.client.post('/api/v1/audit/erasures', { values: ['Grace Hopper'], reason: 'good', ...change })).expect(400);
  });

  test('the platform\'s own log is root\'s', async () => {
    (await ask(asRoot(server), ['nobody there'], { organizationId: 'org_platform' })).expect(200);
    await erased(server);
    expect((await erasuresOf(admin.client)).filter((one) => one.organizationId === 'org_platform')).toEqual([]);
    expect(await verifiedLog(server.database.url)).toMatchObject({ valid: true });
  });
});

describe('whoever would use it against the log', () => {
  const stateOf = async (id: string) => (await erasuresOf(admin.client)).find((one) => one.id === id)!;

  test('does not get round the second person by many small erasures: a day\'s count together', async () => {
    const customers = [1, 2, 3].map((n) => `${customer}-${n}`);
    for (const one of customers) await search(Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`m${i}`, one])));
    const answers = [];
    for (const one of customers) {
      answers.push(await ask(admin.client, [one]));
      await erased(server);
    }
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 202]);
    expect(await stateOf(answers[2]!.text('erasure.id'))).toMatchObject({ state: 'unconfirmed', counts: { values: 0 } });
    // Asked at once, each alone is few: what comes upon too much waits.
    const more = [4, 5, 6].map((n) => `${customer}-${n}`);
    for (const one of more) await search(Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`m${i}`, one])));
    const other = await aPerson(server, 'admin', { organizationId });
    await Promise.all(more.map((one) => ask(other.client, [one])));
    await erased(server);
    const [row] = await server.sql<{ values: number }>(`select sum((counts ->> 'values')::integer)::integer as values from erasures
      where asked_by = $1 and confirmed_by is null`, [other.id]);
    expect(row!.values).toBeLessThanOrEqual(100);
  });

  test('leaves what it did and who did it in sight: entry, amount and digest stay, and the erasure names its asker for good', async () => {
    (await search({ to: customer, amount: 1_000_000 })).expect(200);
    const first = (await ask(admin.client, [customer], { reason: `fraud of ${customer}` })).expect(200).text('erasure.id');
    await erased(server);
    expect(await inputs()).toContainEqual({ to: '[erased]', amount: 1_000_000 });
    const entries = () => server.sql<{ payload: string; disclosures: string }>(`select payload, disclosures from audit_entries
      where organization_id = $1 and event like 'gdpr.erasure_%' and payload like '%' || $2 || '%' order by chain, seq`,
    [organizationId, first]);
    const before = (await entries()).map(({ payload }) => payload);
    expect(before.join()).toContain(admin.id);
    const erase = (await ask(admin.client, [first, admin.id, 'gdpr.erasure_executed', 'erased', '[erased]'])).expect(200);
    await erased(server);
    expect(await stateOf(erase.text('erasure.id'))).toMatchObject({ state: 'done' });
    expect((await entries()).map(({ payload }) => payload)).toEqual(expect.arrayContaining(before));
    expect(await stateOf(first)).toMatchObject({ askedBy: admin.id, state: 'done' });
    expect(await verifiedLog(server.database.url)).toMatchObject({ valid: true, breaks: [] });
  });

  test.each([
    ['NUL', ['Grace\u0000Hopper']], ['a lone surrogate', ['Grace \ud800 Hopper']], ['patterns', ['(((((((a+)+)+)+)+)+)$', '\\p{L}[\\']],
    ['the longest there may be', Array.from({ length: 20 }, (_, i) => `${'a '.repeat(248)}b${i}`)],
    ['marks that belong to a letter', ['e\u0301\u0301\u0301\u0301\u0301\u0301']],
    ['a bare id', ['usr_00000000000000000000000000absent0000']],
    ['white space of every sort', ['\u00a0\u2003a \t\n b\u3000c\u2028d e']], ['what looks like a pointer', ['/metadata/input/to~1']],
  ])('gets an answer whatever the values are: %s', async (_what, values) => {
    (await search({ q: 'a '.repeat(60_000), '~1': '(((((((a', e: 'e\u0301' })).expect(200);
    const answer = await ask(admin.client, values);
    expect([200, 202, 400]).toContain(answer.status);
    expect((await ask(admin.client, values, { dryRun: true })).status).toBe(answer.status === 400 ? 400 : 200);
    await erased(server);
    expect((await erasuresOf(admin.client)).filter(({ state }) => state === 'running')).toEqual([]);
  });

  test('learns nothing of others by counting: neither a viewer, nor a stranger, nor of the platform\'s own log', async () => {
    (await search({ to: customer })).expect(200);
    const viewer = await aPerson(server, 'viewer', { organizationId });
    (await ask(viewer.client, [customer], { dryRun: true })).expect(403, 'FORBIDDEN');
    (await ask(agent.client, [customer], { dryRun: true })).expect(403, 'FORBIDDEN');
    const stranger = await aPerson(server, 'owner', { organizationId: await anOrganization(server) });
    for (const place of [organizationId, 'org_platform']) {
      (await ask(stranger.client, [customer], { dryRun: true, organizationId: place })).expect(404, 'NOT_FOUND');
    }
    expect((await ask(stranger.client, [customer], { dryRun: true })).expect(200).at('found')).toMatchObject({ values: 0, entries: 0 });
  });
});

test('a value that is blank without an entry that lists it is tampering, also where others were erased', async () => {
  (await search({ to: customer, keep: 'this' })).expect(200);
  (await ask(admin.client, [customer])).expect(200);
  await erased(server);
  await server.database.asSuperuser(
    `update audit_entries set disclosures = regexp_replace(disclosures,
       '("pointer":"/metadata/input/keep","salt":"[^"]*"),"value":"[^}]*"', '\\1,"erased":true')
     where chain = '${agent.id}' and event = 'execution.started'`,
  );
  const { valid, breaks } = await verifiedLog(server.database.url);
  expect(valid).toBe(false);
  expect(breaks.map(({ kind }) => kind)).toEqual(['unauthorised_erasure']);
});
