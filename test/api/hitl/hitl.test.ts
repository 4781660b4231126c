import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { auditOf } from '../../support/log/entries.js';
import { anAgent } from '../../support/builders/agents.js';
import { executionOf, requestOf } from '../../support/builders/gate.js';
import { EXECUTE } from '../../support/http/paths.js';
import { startTwoServers, server, root, receiver, asked, decide } from '../../support/hitl/asked-requests.js';

startTwoServers();

const NOBODY = 'hitl_00000000000000000000000000000000000000';

describe('POST /hitl', () => {
  test.each([
    ['auto', 'pending', 'propose', 0],
    ['notify', 'pending', 'propose', 0],
    ['propose', 'pending', 'propose', 0],
    ['never', 'pending', 'propose', 0],
    ['escalate', 'escalated', 'escalate', 2],
  ])('a grant of %s makes a request that is %s', async (hitlMode, status, mode, escalationLevel) => {
    const agent = await anAgent(server).named('adapter').granted('web.post', { hitlMode }).create();
    const body = { capability: 'web.post', action: 'publish', payload: { page: 1 }, context: { task_id: 't' } };
    const reply = (await agent.client.post('/api/v1/hitl', body)).expect(201);
    expect(reply.at('request')).toMatchObject({
      id: expect.stringMatching(/^hitl_/), agentId: agent.id, agentName: 'adapter', capability: 'web.post', action: 'publish',
      payload: { page: 1 }, context: { task_id: 't' }, status, hitlMode: mode, escalationLevel, runs: 'caller',
      actionDigest: expect.stringMatching(/^[0-9a-f]{64}$/), createdAt: expect.any(String), expiresAt: expect.any(String),
    });
    expect((await auditOf(server, agent.id)).at(-1))
      .toMatchObject({ event: 'hitl.created', actorId: agent.id, capability: 'web.post' });
  });

  test('block is 403 and one entry', async () => {
    const agent = await anAgent(server).granted('web.post', { hitlMode: 'block' }).create();
    const before = (await auditOf(server, agent.id)).length;
    (await agent.client.post('/api/v1/hitl', { capability: 'web.post' })).expect(403, 'CAPABILITY_BLOCKED');
    const entries = (await auditOf(server, agent.id)).slice(before);
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({ event: 'execution.blocked', outcome: 'blocked' });
    expect((await root.get('/api/v1/hitl', { query: { agentId: agent.id } })).at('total')).toBe(0);
  });

  test("the gate's other checks apply", async () => {
    const agent = await anAgent(server).granted('finance.payment', { hitlMode: 'auto' }).create();
    (await agent.client.post('/api/v1/hitl', { capability: 'web.post' })).expect(403, 'CAPABILITY_NOT_GRANTED');
    (await agent.client.post('/api/v1/hitl', { capability: 'finance.payment', skipHitl: true })).expect(403, 'FORBIDDEN');
    const hardcoded = (await agent.client.post('/api/v1/hitl', { capability: 'finance.payment' })).expect(201);
    expect(hardcoded.at('request')).toMatchObject({ status: 'escalated', hitlMode: 'escalate', escalationLevel: 2 });
    (await root.post('/api/v1/hitl', { capability: 'finance.payment' })).expect(400, 'VALIDATION_FAILED');
    (await root.post('/api/v1/hitl', { capability: 'finance.payment', agentId: agent.id })).expect(201);
    (await root.post(`/api/v1/agents/${agent.id}/deactivate`)).expect(200);
    (await agent.client.post('/api/v1/hitl', { capability: 'finance.payment' })).expect(403, 'AGENT_INACTIVE');
  });

  test('approved, it is a licence: closed as a receipt, whatever the connector', async () => {
    const before = receiver.requests.length;
    const agent = await anAgent(server).granted('crm.push').create();
    const id = (await agent.client.post('/api/v1/hitl', { capability: 'crm.push', payload: { n: 1 } })).text('request.id');
    const reply = (await decide(root, id, 'approve')).expect(200);
    expect(reply.at('request.execution')).toMatchObject({ status: 'executed', durationMs: 0 });
    const events = (await auditOf(server, agent.id)).slice(-3);
    expect(events.map(({ event }) => event)).toEqual(['hitl.approved', 'execution.started', 'execution.completed']);
    expect(await executionOf(server, reply.text('request.execution.id')))
      .toMatchObject({ runtime: 'receipt', auditId: events[2]!.id });
    expect(receiver.requests).toHaveLength(before);
  });
});

describe('reading', () => {
  test('one request has the snake_case form, every member of it', async () => {
    const { agent, id } = await asked({ hitlTimeoutSeconds: 600 },
      { action: 'greet', context: { task_id: 't1', session_id: 's1' } });
    const { body } = (await root.get<Record<string, unknown>>(`/api/v1/hitl/${id}`)).expect(200);
    expect(body).toMatchObject({
      id, agent_id: agent.id, agent_name: 'mailer', capability: 'email.send', action: 'greet', hitl_mode: 'propose',
        status: 'pending',
      input: { to: 'a@example.org' }, context: { task_id: 't1', session_id: 's1' }, decision: null, decided_by: null,
        decided_at: null,
      escalation_level: 0, escalated_to: null, runs: 'caller', action_digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(Object.keys(body).filter((name) => /[A-Z]/.test(name))).toEqual([]);
    expect(Date.parse(String(body['expires_at'])) - Date.parse(String(body['created_at']))).toBe(600_000);
  });

  test('the window is 30 minutes unless the grant says otherwise', async () => {
    const { id } = await asked();
    const request = await requestOf(server, id);
    expect(Date.parse(String(request['expires_at'])) - Date.parse(String(request['created_at']))).toBe(1_800_000);
  });

  test('the list has the camelCase form; ?form chooses the other, in both', async () => {
    const { agent, id } = await asked();
    const query = { agentId: agent.id };
    const camel = (await root.get('/api/v1/hitl', { query })).list('requests')[0] as Record<string, unknown>;
    expect(camel).toMatchObject({
      id, agentId: agent.id, agentName: 'mailer', capability: 'email.send', payload: { to: 'a@example.org' }, status: 'pending',
      hitlMode: 'propose', escalationLevel: 0, actionDigest: expect.any(String),
    });
    expect(Object.keys(camel).filter((name) => name.includes('_'))).toEqual([]);
    const snake = (await root.get('/api/v1/hitl', { query: { ...query, form: 'snake' } })).list('requests')[0];
    const { decidable_by: bySnake, ...one } = (await root.get(`/api/v1/hitl/${id}`)).body as Record<string, unknown>;
    const { decidableBy: byCamel, ...other } = (await root.get(`/api/v1/hitl/${id}`, { query: { form: 'camel' } })).body as
      Record<string, unknown>;
    expect([one, other]).toEqual([snake, camel]);
    // Who can answer is said where one request is read.
    for (const by of [bySnake, byCamel]) expect(by).toMatchObject({ level: 0, count: expect.any(Number) });
  });

  test('an approved request shows its execution, in either form', async () => {
    const { id } = await asked();
    await decide(root, id, 'approve');
    const snake = (await root.get(`/api/v1/hitl/${id}`)).at('execution') as object;
    expect(snake).toMatchObject({ status: 'executed', duration_ms: 0 });
    expect(Object.keys(snake).filter((name) => /[A-Z]/.test(name))).toEqual([]);
    expect((await root.get(`/api/v1/hitl/${id}`, { query: { form: 'camel' } })).at('execution'))
      .toMatchObject({ status: 'executed', durationMs: 0 });
  });

  test('by status, agent, capability, level and due time', async () => {
    const agent = await anAgent(server).granted('email.send', { hitlMode: 'propose', hitlTimeoutSeconds: 60 })
      .granted('phone.call').create();
    const [mail, call] = await Promise.all(['email.send', 'phone.call'].map(async (capability) =>
      (await agent.client.post(EXECUTE, { capability })).text('hitlRequestId')));
    const list = async (query: Record<string, string | number>) => {
      const reply = (await root.get('/api/v1/hitl', { query: { agentId: agent.id, ...query } })).expect(200);
      const ids = (reply.list('requests') as { id: string }[]).map(({ id }) => id);
      expect(reply.at('total')).toBe(ids.length);
      return ids.sort();
    };
    expect(await list({})).toEqual([mail!, call!].sort());
    expect(await list({ status: 'pending' })).toEqual([mail]);
    expect(await list({ status: 'escalated' })).toEqual([call]);
    expect(await list({ capability: 'phone.call' })).toEqual([call]);
    expect(await list({ level: 0 })).toEqual([mail]);
    expect(await list({ level: 2 })).toEqual([call]);
    expect(await list({ dueBefore: new Date(Date.now() + 120_000).toISOString() })).toEqual([mail]);
    (await root.get('/api/v1/hitl', { query: { status: 'done' } })).expect(400, 'VALIDATION_FAILED');
  });

  test("an agent sees its own; another's is not there", async () => {
    const [one, other] = [await asked(), await asked()];
    (await one.agent.client.get(`/api/v1/hitl/${one.id}`)).expect(200);
    (await one.agent.client.get(`/api/v1/hitl/${other.id}`)).expect(404, 'NOT_FOUND');
    expect((await one.agent.client.get('/api/v1/hitl')).at('total')).toBe(1);
    (await root.get(`/api/v1/hitl/${NOBODY}`)).expect(404, 'NOT_FOUND');
  });

  test('GET decides nothing, whatever path a link scanner follows', async () => {
    const { id } = await asked();
    for (const path of [`/hitl/${id}/approve`, `/hitl/${id}/reject`, `/api/v1/hitl/${id}/approve`, `/api/v1/hitl/${id}/reject`]) {
      for (let i = 0; i < 10; i++) await root.get(path);
    }
    expect(await requestOf(server, id)).toMatchObject({ status: 'pending', decided_by: null });
  });
});

describe('the digest', () => {
  test.each([{}, { action: 'greet ü' }])('is what an independent reading of the row makes it (%j)', async (more) => {
    const input = { 'ü': [1.5e-7, 0.1, 9007199254740991], b: { z: null, a: 'x\u2028"' }, a: true };
    const { id } = await asked({}, { input, ...more });
    const [row] = await server.sql<Record<string, string>>(
      'select agent_id, capability, definition, nonce, runs from hitl_requests where id = $1', [id]);
    const covered = {
      ...more, agentId: row!['agent_id'], capability: row!['capability'], definition: row!['definition'], hitlRequestId: id,
        input,
      nonce: row!['nonce'], runs: row!['runs'],
    };
    const digest = createHash('sha256').update(canonical(covered)).digest('hex');
    expect((await requestOf(server, id)).action_digest).toBe(digest);
    expect(Buffer.from(String(row!['nonce']), 'base64url')).toHaveLength(16);
  });

  test('a decision may say which action it is about; another one is refused', async () => {
    const [{ id }, other] = [await asked(), await asked()];
    const digest = (await requestOf(server, id)).action_digest;
    const foreign = (await requestOf(server, other.id)).action_digest;
    expect(foreign).not.toBe(digest);
    for (const decision of ['approve', 'reject']) {
      const reply = (await decide(root, id, decision, { expectedDigest: foreign })).expect(409, 'HITL_DIGEST_MISMATCH');
      expect(reply.at('request')).toEqual({ id, status: 'pending', decidedBy: null, decidedAt: null });
    }
    (await decide(root, id, 'approve', { expectedDigest: 'nonsense' })).expect(400, 'VALIDATION_FAILED');
    (await decide(root, id, 'approve', { expected_digest: digest })).expect(200);
  });
});

/** RFC 8785 in the few words that I-JSON without exotic numbers needs: members sorted by UTF-16 code units, no blanks. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, content]) => `${JSON.stringify(name)}:${canonical(content)}`).join(',')}}`;
}
