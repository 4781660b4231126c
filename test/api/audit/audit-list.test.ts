import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anonymous, asRoot, type Client } from '../../support/http/actors.js';
import { auditOf, type AuditEntry } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { defineCapability, pauseOutbox, resumeOutbox, executionBecomes } from '../../support/builders/gate.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { EXECUTE } from '../../support/http/paths.js';

let server: TestServer;
let root: Client;
let receiver: Receiver;
let agent: BuiltAgent;
let log: AuditEntry[];

// One story in which everything happens once; the tests read its log.
beforeAll(async () => {
  [server, receiver] = await Promise.all([startServer(), startReceiver()]);
  root = asRoot(server);
  await defineCapability(server, 'crm.push', {
    category: 'crm', connector: { type: 'http', method: 'POST', url: receiver.url, body: '{input}' },
  });
  agent = await anAgent(server).named('story').risk('high').tagged('eu')
    .having({ description: 'does things', metadata: { site: 'X' } })
    .granted('web.search').granted('file.read', { hitlMode: 'block' }).granted('email.send', { hitlMode: 'propose' })
    .granted('crm.push', { conditions: [{ when: 'input.n > 9', hitlMode: 'propose' }] }).create();
  const call = (capability: string, input: unknown, more = {}) => agent.client.post(EXECUTE, { capability, input, ...more });
  const ask = async () => (await call('email.send', { to: 'a@example.org' })).text('hitlRequestId');
  const decide = (id: string, decision: string, body?: unknown) => root.post(`/api/v1/hitl/${id}/${decision}`, body);

  const done = await call('web.search', { q: 'steel' }, { context: { task_id: 't1' }, action: 'look' });
  await agent.client.post(`/api/v1/executions/${done.text('executionId')}/report`, { outcome: 'success', output: { hits: 2 } });
  await call('file.read', { path: '/etc' });
  await call('crm.push', { n: 1 });
  receiver.script({ status: 500 }, { reset: true });
  await call('crm.push', { n: 2 });
  const lost = await call('crm.push', { n: 3 });
  await root.post(`/api/v1/executions/${lost.text('executionId')}/settle`, { outcome: 'failure', note: 'it never arrived' });
  await decide(await ask(), 'approve', { comment: 'fine' });
  await decide(await ask(), 'reject', { reason: 'no' });
  await agent.client.post(`/api/v1/hitl/${await ask()}/cancel`, { note: 'never mind' });
  await decide(await ask(), 'timeout');
  const late = await call('crm.push', { n: 10 });
  await pauseOutbox(server);
  await root.post(`/api/v1/hitl/${late.text('hitlRequestId')}/approve`, {}, { query: { wait: 0 } });
  await root.patch(`/api/v1/agents/${agent.id}/capabilities/crm.push`, { hitl_mode: 'block' });
  await resumeOutbox(server);
  await executionBecomes(server, late.text('executionId'), 'cancelled');
  await agent.client.post(`/api/v1/agents/${agent.id}/token/refresh`);
  await root.patch(`/api/v1/agents/${agent.id}`, { name: 'story two', tags: ['us'], description: null });
  const grants = (await root.get(`/api/v1/agents/${agent.id}/capabilities`))
    .list('grants') as { id: string; capability: string }[];
  await root.delete(`/api/v1/capabilities/grant/${grants.find(({ capability }) => capability === 'web.search')!.id}`);
  await call('web.search', { q: 'gone' });
  await root.delete(`/api/v1/agents/${agent.id}/tokens`);
  await root.post(`/api/v1/agents/${agent.id}/deactivate`, { reason: 'holiday' });
  await root.post(`/api/v1/agents/${agent.id}/activate`);
  log = await auditOf(server, agent.id);
});

afterAll(async () => {
  await server.stop();
  await receiver.close();
});

describe('the query', () => {
  const list = async (query: Record<string, string | number>) => {
    const reply = (await root.get('/api/v1/audit', { query: { limit: 500, ...query } })).expect(200);
    return { entries: reply.list('entries') as AuditEntry[], total: reply.number('total'), reply };
  };

  test('newest first; 50 unless told, 500 at the most', async () => {
    expect((await root.get('/api/v1/audit')).list('entries').length).toBeLessThanOrEqual(50);
    const { entries, total } = await list({ agentId: agent.id });
    expect([entries.map(({ id }) => id), total]).toEqual([[...log].reverse().map(({ id }) => id), log.length]);
    (await root.get('/api/v1/audit', { query: { limit: 501 } })).expect(400, 'VALIDATION_FAILED');
  });

  test.each([['event', 'agentId'], ['event_type', 'agent_id'], ['eventType', 'agentId']])('by %s and %s',
    async (eventName, agentName) => {
    const { entries, total } = await list({ [eventName]: 'hitl.created', [agentName]: agent.id });
    expect([entries.length, total]).toEqual([5, 5]);
    expect(new Set(entries.map(({ event }) => event))).toEqual(new Set(['hitl.created']));
    expect((await list({ [eventName]: 'no.such' })).total).toBe(0);
  });

  test('two spellings with different values: 400', async () => {
    (await root.get('/api/v1/audit', { query: { event: 'a.b', event_type: 'c.d' } })).expect(400, 'VALIDATION_FAILED');
  });

  test('by capability', async () => {
    const { entries } = await list({ agentId: agent.id, capability: 'crm.push' });
    expect(entries.length).toBe(log.filter(({ capability }) => capability === 'crm.push').length);
    expect(entries.length).toBeGreaterThan(0);
  });

  test.each([
    ['executed', ['executed']],
    ['success', ['executed', 'success']],
    ['failure', ['failure']],
    ['blocked', ['blocked']],
  ])('outcome %s finds %j', async (outcome, found) => {
    const { entries } = await list({ agentId: agent.id, outcome });
    expect([...new Set(entries.map((entry) => String(entry.outcome)))].sort()).toEqual(found);
    expect(entries.length).toBe(log.filter((entry) => found.includes(String(entry.outcome))).length);
  });

  test('an unknown outcome is 400', async () => {
    (await root.get('/api/v1/audit', { query: { outcome: 'fine' } })).expect(400, 'VALIDATION_FAILED');
  });

  test('from and to are inclusive; a bare date is the whole UTC day', async () => {
    const middle = log[Math.floor(log.length / 2)]!;
    const at = middle.timestamp;
    const [first, last] = [await list({ agentId: agent.id, from: at }), await list({ agentId: agent.id, to: at })];
    expect(first.entries.every(({ timestamp }) => timestamp >= at)).toBe(true);
    expect(last.entries.every(({ timestamp }) => timestamp <= at)).toBe(true);
    expect([first, last].every(({ entries }) => entries.some(({ id }) => id === middle.id))).toBe(true);
    expect((await list({ agentId: agent.id, from: at, to: at })).total)
      .toBe(log.filter(({ timestamp }) => timestamp === at).length);
    expect((await list({ agentId: agent.id, from: log[0]!.timestamp.slice(0, 10), to: log.at(-1)!.timestamp.slice(0, 10) }))
      .total).toBe(log.length);
    expect((await list({ agentId: agent.id, to: '2020-01-01' })).total).toBe(0);
    for (const from of ['yesterday', '2026-13-01']) (await root.get('/api/v1/audit', { query: { from } })).expect(400);
  });

  test('by actor', async () => {
    const { entries } = await list({ agentId: agent.id, user_id: 'root' });
    expect(entries.map(({ id }) => id)).toEqual(log.filter(({ actorId }) => actorId === 'root').map(({ id }) => id).reverse());
  });

  test('the cursor goes to the end, each entry once', async () => {
    const ids: string[] = [];
    for (let cursor: string | undefined; ;) {
      const { entries, reply } = await list({ agentId: agent.id, limit: 7, ...(cursor === undefined ? {} : { cursor }) });
      ids.push(...entries.map(({ id }) => id));
      cursor = (reply.body as { nextCursor?: string }).nextCursor;
      if (cursor === undefined) break;
    }
    expect(ids).toEqual([...log].reverse().map(({ id }) => id));
  });

  test('one entry, bare; none for an agent or for nobody', async () => {
    const entry = log.at(-1)!;
    expect((await root.get(`/api/v1/audit/${entry.id}`)).expect(200).body).toEqual(entry);
    (await root.get('/api/v1/audit/audit_00000000000000000000000000000000000000')).expect(404, 'NOT_FOUND');
    const reader = await anAgent(server).create();
    for (const path of ['', `/${entry.id}`, '/verify']) {
      (await reader.client.get(`/api/v1/audit${path}`)).expect(403, 'FORBIDDEN');
      (await anonymous(server).get(`/api/v1/audit${path}`)).expect(401, 'UNAUTHENTICATED');
    }
  });
});

describe('the hashes', () => {
  test('anyone can compute them from what is stored, by the formula of the interface', async () => {
    const rows = await server.sql<Record<string,
      string | null>>('select * from audit_entries where chain = $1 order by seq', [agent.id]);
    let previous: string | null = null;
    for (const row of rows) {
      const members = [
        `"agentId":${JSON.stringify(row['agent_id'])}`,
        ...(row['capability'] === null ? [] : [`"capability":${JSON.stringify(row['capability'])}`]),
        `"payload":${row['payload']}`,
        ...(previous === null ? [] : [`"prevHash":"${previous}"`]),
      ];
      expect(row['hash']).toBe(createHash('sha256').update(`{${members.join(',')}}`).digest('hex'));
      expect(row['prev_hash']).toBe(previous);
      previous = row['hash']!;
    }
    expect(rows.length).toBe(log.length);
  });

  test('personal values stand in the payload as commitments only', async () => {
    const rows = await server.sql<{ payload: string }>('select payload from audit_entries where chain = $1', [agent.id]);
    const payloads = rows.map(({ payload }) => payload).join('\n');
    for (const value of ['a@example.org', 'steel', 'never mind', 'holiday', '127.0.0.1']) expect(payloads).not.toContain(value);
  });
});
