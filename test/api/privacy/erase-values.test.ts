import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { columnsWith, erased, erasuresOf } from '../../support/erasure/erasures.js';
import { anOrganization, aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { recordPeople } from '../../support/erasure/recorded-people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { verifiedLog } from '../../support/log/verified-log.js';
import { asSession } from '../../support/builders/tenants.js';
import { storedStateOf } from '../../support/log/stored-state.js';

const LOG = ['audit_entries', 'erasures'];
let server: TestServer;
let organizationId: string;
let admin: BuiltPerson;
let second: BuiltPerson;
let agent: BuiltAgent;
let customer: string;

beforeAll(async () => {
  server = await startServer();
});

afterAll(() => server.stop());

beforeEach(async () => {
  organizationId = await anOrganization(server);
  [admin, second] = [await aPerson(server, 'admin', { organizationId }), await aPerson(server, 'owner', { organizationId })];
  await recordPeople(server);
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

describe('values of a customer', () => {
  test('in inputs and the names of members, in whatever case: blank, and nothing beside them', async () => {
    (await search({ to: customer.toUpperCase(), amount: 5 })).expect(200);
    (await search({ [`note on ${customer}`]: 'sent', list: [{ deep: `for ${customer}, today` }], kept: `${customer}x` })).expect(200);
    const answer = (await ask(admin.client, [customer])).expect(200);
    expect(answer.at('found')).toMatchObject({ decisions: 0, complete: true });
    await erased(server);
    const seen = await inputs();
    expect(seen).toContainEqual({ to: '[erased]', amount: 5 });
    expect(seen).toContainEqual({ '[erased]': '[erased]', list: '[erased]', kept: `${customer}x` });
    const [erasure] = await erasuresOf(admin.client);
    expect(erasure).toMatchObject({ kind: 'values', state: 'done', askedBy: admin.id, reason: 'they asked' });
    expect(erasure!.counts.values).toBeGreaterThanOrEqual(3);
    expect(JSON.stringify(erasure)).not.toContain(customer);
    const [row] = await server.sql<{ texts: unknown }>('select texts from erasures where id = $1', [erasure!.id]);
    expect(row!.texts).toBeNull();
    expect(await verifiedLog(server.database.url)).toMatchObject({ valid: true, breaks: [] });
  });

  test('a second erasure goes over what the first one has left, and all still verifies', async () => {
    (await search({ to: customer, cc: 'Katherine Johnson' })).expect(200);
    (await ask(admin.client, [customer])).expect(200);
    await erased(server);
    (await ask(admin.client, ['katherine johnson'])).expect(200);
    await erased(server);
    expect(await inputs()).toContainEqual({ to: '[erased]', cc: '[erased]' });
    expect(await verifiedLog(server.database.url)).toMatchObject({ valid: true, breaks: [] });
  });

  test("in somebody else's session: gone; in their name: theirs, and whoever asked is told", async () => {
    const name = `Deputy of ${customer}`;
    const deputy = await aPerson(server, 'member', { organizationId, name });
    const session = await asSession(server, deputy);
    await server.sql('update sessions set user_agent = $2, address = $3 where id = $1',
      [session.id, `${customer}'s telephone`, '203.0.113.88']);
    (await ask(admin.client, [customer, '203.0.113.88'])).expect(200);
    await erased(server);
    expect(await server.sql('select user_agent as "userAgent", address from sessions where user_id = $1', [deputy.id]))
      .toEqual([{ userAgent: '[erased]', address: '[erased]' }]);
    expect(await columnsWith(server, customer)).toEqual(['users.name']);
    const [erasure] = await erasuresOf(admin.client);
    expect(erasure).toMatchObject({ state: 'done', counts: { rows: { sessions: 1 }, left: { keptProfiles: 1 } } });
    (await asRoot(server).delete(`/api/v1/users/${deputy.id}/data`)).expect(200);
    await erased(server);
    expect(await columnsWith(server, customer)).toEqual([]);
  });

  test("in another account's subject at the identity provider: theirs, and whoever asked is told, until that one is erased", async () => {
    const address = `grace-${randomBytes(3).toString('hex')}@example.org`;
    const other = await aPerson(server, 'member', { organizationId });
    await server.sql(
      `insert into user_identities (organization_id, user_id, issuer, subject, claimed_role_since, has_subscription, claims_at, bound_at)
       select $1, $2, 'https://provider.example', $3, at, true, at, at from clock_timestamp() at`,
      [organizationId, other.id, address],
    );
    (await ask(admin.client, [address])).expect(200);
    await erased(server);
    expect(await columnsWith(server, address)).toEqual(['user_identities.subject']);
    const [erasure] = await erasuresOf(admin.client);
    expect(erasure).toMatchObject({ state: 'done', counts: { left: { keptIdentities: 1 } } });
    (await asRoot(server).delete(`/api/v1/users/${other.id}/data`)).expect(200);
    await erased(server);
    expect(await columnsWith(server, address)).toEqual([]);
    const [own] = (await erasuresOf(asRoot(server))).filter(({ userId }) => userId === other.id);
    expect([own!.state, own!.counts.left]).toEqual(['done', {}]);
  });

  test('the reason is searched as well', async () => {
    (await ask(admin.client, [customer], { reason: `${customer} asked us` })).expect(200);
    await erased(server);
    expect(await columnsWith(server, customer, LOG)).toEqual([]);
  });

  test('what came while it ran is covered', async () => {
    for (let i = 0; i < 30; i++) (await search({ to: customer, i })).expect(200);
    const [answer] = await Promise.all([
      ask(admin.client, [customer]), ...Array.from({ length: 10 }, (_, i) => search({ to: customer, late: i })),
    ]);
    expect([200, 202]).toContain(answer.status);
    if (answer.status === 202) (await second.client.post(`/api/v1/audit/erasures/${answer.text('erasure.id')}/confirm`)).expect(200);
    await erased(server);
    const [erasure] = await erasuresOf(admin.client);
    if (erasure!.state === 'unconfirmed') {
      (await second.client.post(`/api/v1/audit/erasures/${erasure!.id}/confirm`)).expect(200);
      await erased(server);
    }
    expect(JSON.stringify(await inputs())).not.toContain(customer);
  });

  test('other organizations are untouched', async () => {
    const elsewhere = await anOrganization(server);
    const other = await anAgent(server).inOrganization(elsewhere).granted('web.search').create();
    (await other.client.post('/api/v1/execute', { capability: 'web.search', input: { to: customer } })).expect(200);
    const before = await storedStateOf(server, [elsewhere]);
    (await search({ to: customer })).expect(200);
    (await ask(admin.client, [customer])).expect(200);
    await erased(server);
    expect(await storedStateOf(server, [elsewhere])).toEqual(before);
  });

  test('a dry run counts, and leaves everything as it is', async () => {
    (await search({ to: customer, cc: customer })).expect(200);
    const before = await storedStateOf(server, [organizationId]);
    const answer = (await ask(admin.client, [customer], { dryRun: true })).expect(200);
    expect(answer.body).toEqual({ organizationId, found: { values: 2, entries: 1, decisions: 0, complete: true } });
    expect(await storedStateOf(server, [organizationId])).toEqual(before);
  });
});

describe('a second person', () => {
  const aDecision = async () => {
    const asked = (await agent.client.post('/api/v1/execute', { capability: 'email.send', input: { to: 'x' } })).expect(202);
    (await second.client.post(`/api/v1/hitl/${asked.text('hitlRequestId')}/reject`, { note: `${customer} said no` })).expect(200);
  };

  test('confirms what a decision says; never who asked for it', async () => {
    await aDecision();
    const answer = (await ask(admin.client, [customer])).expect(202);
    const path = `/api/v1/audit/erasures/${answer.text('erasure.id')}/confirm`;
    expect(answer.text('erasure.state')).toBe('unconfirmed');
    (await admin.client.post(path)).expect(403, 'FORBIDDEN');
    expect(await columnsWith(server, customer, ['audit_entries'])).not.toEqual([]);
    (await second.client.post(path)).expect(200);
    await erased(server);
    (await second.client.post(path)).expect(409, 'CONFLICT');
    expect(await columnsWith(server, customer, LOG)).toEqual([]);
    expect((await erasuresOf(admin.client))[0]).toMatchObject({ state: 'done', confirmedBy: second.id });
    expect(await verifiedLog(server.database.url)).toMatchObject({ valid: true });
  });

  test('confirms more than a hundred values', async () => {
    const input = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`m${i}`, customer]));
    for (let i = 0; i < 2; i++) (await search(input)).expect(200);
    const answer = (await ask(admin.client, [customer])).expect(202);
    (await second.client.post(`/api/v1/audit/erasures/${answer.text('erasure.id')}/confirm`)).expect(200);
    await erased(server);
    expect((await erasuresOf(admin.client))[0]!.counts.values).toBeGreaterThanOrEqual(102);
    expect(await verifiedLog(server.database.url)).toMatchObject({ valid: true });
  });

  test('is root where an organization has one administrator', async () => {
    const alone = await anOrganization(server);
    const only = await aPerson(server, 'admin', { organizationId: alone });
    const one = await anAgent(server).inOrganization(alone).granted('email.send', { hitlMode: 'propose' }).create();
    const asked = (await one.client.post('/api/v1/execute', { capability: 'email.send', input: { to: 'x' } })).expect(202);
    (await only.client.post(`/api/v1/hitl/${asked.text('hitlRequestId')}/reject`, { note: customer })).expect(200);
    const id = (await ask(only.client, [customer])).expect(202).text('erasure.id');
    (await only.client.post(`/api/v1/audit/erasures/${id}/confirm`)).expect(403, 'FORBIDDEN');
    (await asRoot(server).post(`/api/v1/audit/erasures/${id}/confirm`)).expect(200);
    await erased(server);
    expect(await columnsWith(server, customer, ['audit_entries'])).toEqual([]);
  });

  test('is forgotten about with what was to be searched for, after a week', async () => {
    await aDecision();
    const id = (await ask(admin.client, [customer])).expect(202).text('erasure.id');
    await server.sql(`update erasures set asked_at = asked_at - interval '8 days' where id = $1`, [id]);
    (await ask(second.client, ['nobody at all'])).expect(200);
    const declined = (await erasuresOf(admin.client)).find((one) => one.id === id);
    expect(declined).toMatchObject({ state: 'declined' });
    (await second.client.post(`/api/v1/audit/erasures/${id}/confirm`)).expect(409, 'CONFLICT');
  });
});
