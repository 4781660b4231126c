import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anonymous, asRoot, type Client } from '../../support/http/actors.js';
import { anAgent, anAgentKey, type BuiltAgent } from '../../support/builders/agents.js';
import { anOrganization, aPerson, firstOrganization, type BuiltPerson } from '../../support/builders/people.js';
import { asInternal, INTERNAL } from '../../support/builders/tenants.js';
import { storedState, type StoredState } from '../../support/log/stored-state.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

// Questions of people who come anew: who am I here, what would the gate do, what has this person done?

const ME = '/api/v1/auth/me';

let server: TestServer;
let root: Client;
let organizationId: string;
let agent: BuiltAgent;
let admin: BuiltPerson;

beforeAll(async () => {
  server = await startServer({ env: INTERNAL });
  root = asRoot(server);
  organizationId = await firstOrganization(server);
  agent = await anAgent(server).granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
  admin = await aPerson(server, 'admin');
});

afterAll(() => server.stop());

describe('GET /auth/me', () => {
  test('root and the internal key are nobody\'s account', async () => {
    const asked = (await root.get(ME)).expect(200);
    expect(asked.body).toEqual({ principal: 'root', permissions: expect.objectContaining({ 'agents.write': 'all' }) });
    expect(asked.body).not.toHaveProperty('permissions.sign-in.read-self');
    const internal = (await asInternal(server).get(ME)).expect(200);
    expect(internal.text('principal')).toBe('internal');
    expect(internal.body).toHaveProperty(['permissions', 'tenants.read'], 'all');
    expect(internal.body).not.toHaveProperty(['permissions', 'agents.read']);
  });

  test('an agent sees itself, its organization, and what its token names', async () => {
    const me = (await agent.client.get(ME)).expect(200);
    expect(me.body).toMatchObject({
      principal: 'agent', organization: { id: organizationId },
      agent: { id: agent.id, credential: 'token', capabilities: expect.arrayContaining(['web.search', 'email.send']) },
    });
    expect(Date.parse(me.text('agent.expiresAt'))).toBeGreaterThan(Date.now());
    expect(me.body).toHaveProperty(['permissions', 'gate.execute'], 'own');
    expect(me.body).not.toHaveProperty('user');
  });

  test('an agent by its key sees the key, and no list of capabilities: the grants decide', async () => {
    const key = await anAgentKey(server, agent);
    const me = (await key.client.get(ME)).expect(200);
    expect(me.body).toMatchObject({ agent: { id: agent.id, credential: 'key', keyId: key.id } });
    expect(me.body).not.toHaveProperty('agent.capabilities');
  });

  test('a person sees their account', async () => {
    expect((await admin.client.get(ME)).expect(200).body).toMatchObject({
      principal: 'user', user: { id: admin.id }, role: 'admin', organization: { id: organizationId },
    });
    (await anonymous(server).get(ME)).expect(401, 'UNAUTHENTICATED');
  });
});

describe('dry runs of administrators', () => {
  test.each(['/api/v1/execute', '/api/v1/executions'])('%s says what the gate would do, and leaves nothing behind', async (path) => {
    const before = await storedState(server);
    const asked = (await admin.client.post(path, { capability: 'email.send', agentId: agent.id, dryRun: true })).expect(200);
    expect(asked.body).toMatchObject({ status: 'dry_run', decision: 'ask', effectiveMode: 'propose', runs: 'caller' });
    expect(asked.text('reasons.0.rule')).not.toBe('');
    const refused = (await admin.client.post(path, { capability: 'file.write', agent_id: agent.id, dry_run: true })).expect(200);
    expect(refused.text('decision')).toBe('CAPABILITY_NOT_GRANTED');
    expect(await storedState(server)).toEqual(before);
  });

  test('anything else is the agents\' alone', async () => {
    const before = await storedState(server);
    for (const dryRun of [undefined, false]) {
      const answer = await admin.client.post('/api/v1/execute', { capability: 'web.search', agentId: agent.id, dryRun });
      expect(answer.expect(403, 'FORBIDDEN').text('detail')).toMatch(/"dryRun": true/);
    }
    const member = await aPerson(server, 'member');
    const wanted = { capability: 'web.search', agentId: agent.id, dryRun: true };
    (await member.client.post('/api/v1/execute', wanted)).expect(403, 'FORBIDDEN');
    const stranger = await aPerson(server, 'owner', { organizationId: await anOrganization(server) });
    (await stranger.client.post('/api/v1/execute', wanted)).expect(404, 'NOT_FOUND');
    (await admin.client.post('/api/v1/execute', { capability: 'web.search', dryRun: true })).expect(400, 'VALIDATION_FAILED');
    expect(ofTheGate(await storedState(server))).toEqual(ofTheGate(before));
  });
});

/** The tables that a call of the gate could have changed. */
const ofTheGate = ({ executions, hitl_requests: requests }: StoredState) => ({ executions, requests });

describe('GET /audit?user=', () => {
  const entriesOf = (query: Record<string, string>) => root.get('/api/v1/audit', { query });

  test('takes an address for the id, whatever its case', async () => {
    (await admin.client.patch(`/api/v1/agents/${agent.id}`, { description: 'asked about' })).expect(200);
    const email = (await root.get(`/api/v1/users/${admin.id}`)).expect(200).text('user.email');
    const byId = (await entriesOf({ user: admin.id })).expect(200);
    expect(byId.number('total')).toBeGreaterThan(0);
    for (const user of [email, email.toUpperCase()]) expect((await entriesOf({ user })).expect(200).body).toEqual(byId.body);
    expect((await entriesOf({ user_id: email })).expect(200).body).toEqual(byId.body);
  });

  test('finds nothing for an address that the reader sees nobody with, and asks where several have one', async () => {
    expect((await entriesOf({ user: 'nobody@example.com' })).expect(200).body).toEqual({ entries: [], total: 0 });
    const elsewhere = await anOrganization(server);
    const email = 'twice@example.com';
    for (const home of [organizationId, elsewhere]) {
      (await root.post('/api/v1/users', { email, role: 'viewer', organizationId: home })).expect(201);
    }
    const asked = (await entriesOf({ user: email })).expect(400, 'VALIDATION_FAILED');
    expect(asked.text('detail')).toMatch(/several accounts/);
    expect((await entriesOf({ user: email, organizationId: elsewhere })).expect(200).number('total')).toBeGreaterThan(0);
    expect((await admin.client.get('/api/v1/audit', { query: { user: email } })).expect(200).number('total')).toBeGreaterThan(0);
  });
});

test.each(['/', '/account'])('%s leads a browser to the page that signs people in', async (path) => {
  const answer = await fetch(new URL(path, server.url), { redirect: 'manual', headers: { accept: 'text/html' } });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/sign-in']);
});
