import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { auditOf } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { storedState } from '../../support/log/stored-state.js';

let server: TestServer;
let root: Client;
let agent: BuiltAgent;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
  agent = await anAgent(server).create();
});
afterAll(() => server.stop());

const grant = (body: object, to: BuiltAgent = agent): Promise<Reply> => root.post(`/api/v1/agents/${to.id}/capabilities`, body);
const configure = (capability: string, body: object, of: BuiltAgent = agent): Promise<Reply> =>
  root.patch(`/api/v1/agents/${of.id}/capabilities/${capability}`, body);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('granting', () => {
  test('by the agent\'s route in snake_case: 201, spelt as the grant table has it', async () => {
    const before = Date.now();
    const made = (await grant({
      capability: 'web.search', hitl_mode: 'propose', hitl_timeout_seconds: 60, hitl_timeout_action: 'reject',
    })).expect(201);
    const { id, grantedAt, ...rest } = made.at('grant') as Record<string, unknown>;
    expect(rest).toEqual({
      agentId: agent.id, capability: 'web.search', hitlMode: 'propose', effectiveMode: 'propose', grantedBy: 'root',
      hitl_timeout_seconds: 60, hitl_timeout_action: 'reject', version: 1,
    });
    expect(id).toMatch(/^grt_[0-9a-z]{26,}$/);
    expect(Date.parse(String(grantedAt))).toBeGreaterThan(before - 5_000);
    expect(made.headers.get('content-type')).toMatch(/^application\/json/);
  });

  test('by the grant route in camelCase: the same thing', async () => {
    const made = (await root.post('/api/v1/capabilities/grant', {
      agentId: agent.id, capability: 'file.read', hitlMode: 'notify', hitlTimeoutSeconds: 2_592_000, hitlTimeoutAction: 'reject',
    })).expect(201);
    expect(made.at('grant')).toMatchObject({
      agentId: agent.id, capability: 'file.read', hitlMode: 'notify', effectiveMode: 'notify', hitl_timeout_seconds: 2_592_000,
      version: 1,
    });
  });

  test('the casing does not hang on the route', async () => {
    const to = await anAgent(server).create();
    (await grant({ capability: 'web.search', hitlMode: 'block' }, to)).expect(201);
    (await root.post('/api/v1/capabilities/grant', { agent_id: to.id, capability: 'file.read', hitl_mode: 'block' })).expect(201);
    const listed = (await root.get(`/api/v1/agents/${to.id}/capabilities`)).expect(200);
    expect((listed.list('grants') as { hitlMode: string }[]).map(({ hitlMode }) => hitlMode)).toEqual(['block', 'block']);
    expect(listed.number('total')).toBe(2);
  });

  test('without a mode: the catalogue\'s of that moment', async () => {
    const to = await anAgent(server).create();
    const modes = { 'web.search': 'auto', 'email.send': 'propose', 'calendar.write': 'notify', 'agent.spawn': 'escalate',
      'db:mutate': 'propose' };
    for (const [capability, mode] of Object.entries(modes)) {
      const made = (await grant({ capability }, to)).expect(201);
      expect(made.at('grant')).toMatchObject({ hitlMode: mode, effectiveMode: mode, hitl_timeout_seconds: 1_800,
        hitl_timeout_action: 'reject' });
    }
    expect((await root.get(`/api/v1/agents/${to.id}`)).list('agent.capabilities')).toEqual(Object.keys(modes).sort());
  });

  test('again: 200, the same id, the next version; what is said changes, and what is left out stays', async () => {
    const to = await anAgent(server).create();
    const first = (await grant({
      capability: 'email.send', hitlMode: 'escalate', hitlTimeoutSeconds: 90, expiresAt: '2999-01-01T00:00:00Z',
      conditions: [{ when: 'input.amount > 1', hitlMode: 'block', reason: 'too much' }],
    }, to)).expect(201);
    expect(first.at('grant')).toMatchObject({
      expiresAt: '2999-01-01T00:00:00.000Z', conditions: [{ when: 'input.amount > 1', hitlMode: 'block', reason: 'too much' }],
    });
    await pause(5);
    const change = { hitlMode: 'propose', hitlTimeoutSeconds: null, expiresAt: null };
    const second = (await root.post('/api/v1/capabilities/grant', { agentId: to.id, capability: 'email.send', ...change })).expect(200);
    const { grantedAt, ...rest } = second.at('grant') as Record<string, unknown>;
    expect(rest).toEqual({
      id: first.text('grant.id'), agentId: to.id, capability: 'email.send', hitlMode: 'propose', effectiveMode: 'propose',
      conditions: [{ when: 'input.amount > 1', hitlMode: 'block', reason: 'too much' }],
      grantedBy: 'root', hitl_timeout_seconds: 1_800, hitl_timeout_action: 'reject', version: 2,
    });
    expect(second.list('changed')).toEqual(['hitlMode', 'hitl_timeout_seconds', 'expiresAt']);
    expect(second.list('warnings')).toMatchObject([{ code: 'NOBODY', pointer: '/capability' }]);
    const third = (await grant({ capability: 'email.send', conditions: null }, to)).expect(200);
    expect(third.at('grant')).not.toHaveProperty('conditions');
    expect(third.list('changed')).toEqual(['conditions']);
    expect(Date.parse(String(grantedAt))).toBeGreaterThan(Date.parse(first.text('grant.grantedAt')));
    const events = (await auditOf(server, to.id)).filter(({ event }) => event === 'capability.granted');
    expect(events.map(({ metadata }) => metadata.version)).toEqual([1, 2, 3]);
    expect(events[0]).toMatchObject({ actorId: 'root', capability: 'email.send',
      metadata: { hitlMode: 'escalate', timeoutSeconds: 90 } });
  });

  test('null returns the mode to its default too, in granting and configuring, and is the default of a first grant', async () => {
    const to = await anAgent(server).create();
    const first = (await grant({ capability: 'email.send', hitlMode: null }, to)).expect(201);
    expect(first.at('grant')).toMatchObject({ hitlMode: 'propose', effectiveMode: 'propose' });
    (await grant({ capability: 'email.send', hitlMode: 'escalate' }, to)).expect(200);
    const again = (await grant({ capability: 'email.send', hitlMode: null }, to)).expect(200);
    expect([again.text('grant.hitlMode'), again.list('changed')]).toEqual(['propose', ['hitlMode']]);
    (await configure('email.send', { hitl_mode: 'block' }, to)).expect(200);
    expect((await configure('email.send', { hitl_mode: null }, to)).expect(200).text('grant.hitlMode')).toBe('propose');
  });

  test('parallel grants of one capability make one grant', async () => {
    const to = await anAgent(server).create();
    const answers = await Promise.all(Array.from({ length: 6 }, () => grant({ capability: 'web.search' }, to)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201]);
    expect(new Set(answers.map((answer) => answer.text('grant.id'))).size).toBe(1);
    expect(answers.map((answer) => answer.number('grant.version')).sort()).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('names are exact: an unknown one is 404, never the one that it resembles', async () => {
    const before = await storedState(server);
    for (const capability of ['no.such', 'Email.send', 'EMAIL.SEND', 'email.send ', ' email.send', 'email .send', 'email.ѕend',
      'phone:call',
      'Phone.Call', 'phone_call', 'data:delete', '*', 'email.*', 'email', "email.send'--", 'constructor', '__proto__',
      'toString']) {
      (await grant({ capability })).expect(404, 'NOT_FOUND');
    }
    expect(await storedState(server)).toEqual(before);
    (await grant({ capability: 'file:read' })).expect(201);
  });

  test('to nobody: 404', async () => {
    (await root.post('/api/v1/agents/agt_00000000000000000000000000absent0000/capabilities', { capability: 'web.search' }))
      .expect(404, 'NOT_FOUND');
    for (const agentId of ['agt_00000000000000000000000000absent0000', 'nobody', 'root', '*']) {
      (await root.post('/api/v1/capabilities/grant', { agentId, capability: 'web.search' })).expect(404, 'NOT_FOUND');
    }
    (await root.post('/api/v1/capabilities/grant', { capability: 'web.search' })).expect(400, 'VALIDATION_FAILED');
  });

  test('the very next call sees a grant, once the token holds it', async () => {
    const to = await anAgent(server).create();
    (await to.client.post('/api/v1/execute', { capability: 'web.search' })).expect(403, 'CAPABILITY_NOT_GRANTED');
    (await grant({ capability: 'web.search', hitlMode: 'auto' }, to)).expect(201);
    (await to.client.post('/api/v1/execute', { capability: 'web.search' })).expect(403, 'CAPABILITY_NOT_IN_TOKEN');
    expect((await auditOf(server, to.id)).filter(({ event }) => event.startsWith('execution.'))).toEqual([]);
  });
});

describe('expiry', () => {
  test('a grant past its time is no grant: not in lists, not in tokens, not at the gate, not to be changed', async () => {
    const to = await anAgent(server).granted('web.search', { expiresAt: new Date(Date.now() + 1_000).toISOString() }).create();
    expect(to.agent.capabilities).toEqual(['web.search']);
    (await to.client.post('/api/v1/execute', { capability: 'web.search' })).expect(200);
    await pause(1_100);
    (await to.client.post('/api/v1/execute', { capability: 'web.search' })).expect(403, 'CAPABILITY_NOT_GRANTED');
    expect((await root.get(`/api/v1/agents/${to.id}`)).list('agent.capabilities')).toEqual([]);
    expect((await root.get(`/api/v1/agents/${to.id}/capabilities`)).expect(200).body).toEqual({ grants: [], total: 0 });
    expect((await root.get(`/api/v1/capabilities/grants?agent_id=${to.id}`)).number('total')).toBe(0);
    (await configure('web.search', { hitlMode: 'auto' }, to)).expect(404, 'NOT_FOUND');
    const unsaid = (await grant({ capability: 'web.search' }, to)).expect(400, 'VALIDATION_FAILED');
    const message = expect.stringMatching(/a new time, or null for none/);
    expect(unsaid.list('errors')).toMatchObject([{ pointer: '/expiresAt', message }]);
    expect((await grant({ capability: 'web.search', expiresAt: null }, to)).expect(200).list('changed')).toEqual(['expiresAt']);
    (await to.client.post('/api/v1/execute', { capability: 'web.search' })).expect(200);
  });
});

describe('configuring', () => {
  test('changes what is sent, keeps the rest, counts a version and records it', async () => {
    const to = await anAgent(server).create();
    const first = (await grant({ capability: 'file:write', hitlMode: 'notify', hitlTimeoutSeconds: 90 }, to)).expect(201);
    const second = (await configure('file:write', { hitl_mode: 'propose' }, to)).expect(200);
    expect(second.at('grant')).toEqual({ ...(first.at('grant') as object), hitlMode: 'propose', effectiveMode: 'propose',
      version: 2 });
    const third = (await configure('file%3Awrite', { hitlTimeoutSeconds: 120, expires_at: '2999-01-01T00:00:00+01:00' }, to))
      .expect(200);
    expect(third.at('grant')).toMatchObject({ hitlMode: 'propose', hitl_timeout_seconds: 120,
      expiresAt: '2998-12-31T23:00:00.000Z', version: 3 });
    const fourth = (await configure('file:write', { expiresAt: null, hitl_timeout_seconds: null }, to)).expect(200);
    expect(fourth.at('grant')).not.toHaveProperty('expiresAt');
    expect(fourth.at('grant.hitl_timeout_seconds')).toBe(1_800);
    expect((await root.get(`/api/v1/agents/${to.id}/capabilities`)).at('grants.0')).toEqual(fourth.at('grant'));
    const events = (await auditOf(server, to.id)).filter(({ event }) => event === 'capability.config_updated');
    expect(events.map(({ metadata }) => metadata.version)).toEqual([2, 3, 4]);
    expect(events[0]).toMatchObject({ actorId: 'root', capability: 'file:write',
      metadata: { grantId: first.text('grant.id'), hitlMode: 'propose' } });
  });

  test('members that are not a grant\'s settings change nothing', async () => {
    const to = await anAgent(server).granted('web.search', { hitlMode: 'propose' }).create();
    const former = (await root.get(`/api/v1/agents/${to.id}/capabilities`)).at('grants.0') as object;
    const sent = {
      id: 'grt_x', agentId: agent.id, capability: 'data.delete', version: 99, grantedBy: 'usr_x', granted_by: 'usr_x',
      grantedAt: '2001-01-01T00:00:00Z',
      effectiveMode: 'auto', revokedAt: '2001-01-01T00:00:00Z', revoked_at: '2001-01-01T00:00:00Z', hardcoded: false,
    };
    (await configure('web.search', sent, to)).expect(400, 'VALIDATION_FAILED');
    const path = `/api/v1/agents/${to.id}/capabilities/web.search`;
    const changed = (await root.with({ prefer: 'handling=lenient' }).patch(path, sent)).expect(200);
    expect(changed.at('grant')).toEqual({ ...former, version: 2 });
  });

  test('what the agent does not hold is 404', async () => {
    const to = await anAgent(server).granted('web.search').create();
    for (const capability of ['file.read', 'no.such', 'WEB.SEARCH', 'web.search%20', 'web%2Esearch%00', 'x'.repeat(300)]) {
      (await configure(capability, { hitlMode: 'auto' }, to)).expect(404, 'NOT_FOUND');
    }
    (await configure('web.search', { hitlMode: 'ask' }, to)).expect(400, 'VALIDATION_FAILED');
    (await configure('web.search', { conditions: [{ when: '(', hitlMode: 'block' }] }, to)).expect(422, 'INVALID_CONDITION');
    expect((await root.get(`/api/v1/agents/${to.id}/capabilities`)).number('grants.0.version')).toBe(1);
  });
});

describe('revoking', () => {
  test('takes the grant\'s id, holds from the very next call, and granting anew begins anew', async () => {
    const to = await anAgent(server).granted('web.search').create();
    const id = (await root.get(`/api/v1/agents/${to.id}/capabilities`)).text('grants.0.id');
    (await to.client.post('/api/v1/execute', { capability: 'web.search' })).expect(200);
    const revoked = (await root.delete(`/api/v1/capabilities/grant/${id}`)).expect(204);
    expect(revoked.body).toBeUndefined();
    (await to.client.post('/api/v1/execute', { capability: 'web.search' })).expect(403, 'CAPABILITY_NOT_GRANTED');
    (await root.delete(`/api/v1/capabilities/grant/${id}`)).expect(404, 'NOT_FOUND');
    (await configure('web.search', { hitlMode: 'auto' }, to)).expect(404, 'NOT_FOUND');
    expect((await root.get(`/api/v1/agents/${to.id}/capabilities`)).number('total')).toBe(0);
    expect((await root.get(`/api/v1/agents/${to.id}`)).list('agent.capabilities')).toEqual([]);
    const entries = await auditOf(server, to.id);
    expect(entries.find(({ event }) => event === 'capability.revoked')).toMatchObject({
      actorId: 'root', capability: 'web.search', outcome: 'success', metadata: { grantId: id, capability: 'web.search' },
    });
    expect(entries.at(-1)).toMatchObject({ event: 'execution.blocked', outcome: 'blocked',
      metadata: { reason: 'CAPABILITY_NOT_GRANTED' } });
    const anew = (await grant({ capability: 'web.search' }, to)).expect(201);
    expect(anew.at('grant')).toMatchObject({ version: 1 });
    expect(anew.text('grant.id')).not.toBe(id);
  });

  test('what is no grant is 404', async () => {
    for (const id of ['grt_00000000000000000000000000absent0000', agent.id, 'web.search', '%00', '1']) {
      (await root.delete(`/api/v1/capabilities/grant/${id}`)).expect(404, 'NOT_FOUND');
    }
  });
});

describe('who holds what', () => {
  test('by capability and by agent, newest first, with a total', async () => {
    const [one, two] = [
      await anAgent(server).granted('calendar.read').create(),
      await anAgent(server).granted('calendar.read').granted('data.query').create(),
    ];
    const holders = (await root.get('/api/v1/capabilities/grants?capability=calendar.read')).expect(200);
    expect((holders.list('grants') as { agentId: string }[]).map(({ agentId }) => agentId)).toEqual([two.id, one.id]);
    expect(holders.number('total')).toBe(2);
    const held = (await root.get('/api/v1/capabilities/grants', { query: { agent_id: two.id } })).expect(200);
    expect((held.list('grants') as { capability: string }[]).map(({ capability }) => capability).sort())
      .toEqual(['calendar.read', 'data.query']);
    const both = (await root.get('/api/v1/capabilities/grants', { query: { agentId: two.id, capability: 'data.query' } }))
      .expect(200);
    expect(both.number('total')).toBe(1);
    expect((await root.get('/api/v1/capabilities/grants?capability=no.such')).expect(200).body).toEqual({ grants: [], total: 0 });
    // An agent sees what it holds itself, whomever it asks about.
    expect((await one.client.get('/api/v1/capabilities/grants?capability=calendar.read')).expect(200).number('total')).toBe(1);
  });
});
