import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { anonymous } from '../../support/http/actors.js';
import type { AuditEntry } from '../../support/log/entries.js';
import { anAgent } from '../../support/builders/agents.js';
import { startAudited, server, root, agent, log } from '../../support/builders/audited-agent.js';

startAudited();

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
