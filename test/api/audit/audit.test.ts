import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../src/domain/ids.js';
import { as, asRoot } from '../../support/http/actors.js';
import { auditOf, type AuditEntry } from '../../support/log/entries.js';
import { anAgent } from '../../support/builders/agents.js';
import { requestOf } from '../../support/builders/gate.js';
import { eventually } from '../../support/running/eventually.js';
import { startServer } from '../../support/servers/server.js';
import { isWaitingOn, tableHeld } from '../../support/servers/two-servers.js';
import { EXECUTE } from '../../support/http/paths.js';
import { startAudited, server, root, agent, log } from '../../support/builders/audited-agent.js';

startAudited();

const ID = (prefix: string) => expect.stringMatching(new RegExp(`^${prefix}_[0-9a-z]{30,}$`)) as unknown;
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;
const HEX = expect.stringMatching(/^[0-9a-f]{64}$/) as unknown;
const SOME = expect.anything() as unknown;

describe('every event, with the metadata that the contract names', () => {
  const flagged = true;
  const inExecution = { executionId: ID('exec'), flagged };
  const started = {
    ...inExecution, grantId: ID('grt'), grantVersion: expect.any(Number), definition: expect.any(String),
      reasons: expect.any(Array),
  };
  const expected: readonly (readonly [event: string, actor: 'root' | 'agent' | 'system', outcome: string | undefined,
    metadata: object])[] = [
    ['agent.registered', 'root', 'success',
      { name: 'story', riskLevel: 'high', tags: ['eu'], description: 'does things', metadata: { site: 'X' } }],
    ['capability.granted', 'root', 'success', {
      grantId: ID('grt'), version: 1, capability: 'crm.push', hitlMode: 'auto',
        conditions: [{ when: 'input.n > 9', hitlMode: 'propose' }],
    }],
    ['execution.started', 'agent', undefined, { ...started, input: { q: 'steel' }, context: { task_id: 't1' }, action: 'look' }],
    ['execution.completed', 'agent', 'executed', { ...inExecution, durationMs: 0 }],
    ['execution.completed', 'agent', 'executed',
      { ...inExecution, durationMs: expect.any(Number), outputSummary: '{"ok":true}' }],
    ['execution.reported', 'agent', 'success', { ...inExecution, outcome: 'success', output: { hits: 2 } }],
    ['execution.blocked', 'agent', 'blocked', { flagged, reason: SOME, executionId: ID('exec'), input: { path: '/etc' } }],
    ['execution.failed', 'agent', 'failure',
      { ...inExecution, durationMs: expect.any(Number), error: { code: 'CONNECTOR_STATUS', message: SOME } }],
    ['execution.failed', 'agent', 'failure', { ...inExecution, outcome: 'indeterminate', error: { code: SOME, message: SOME } }],
    ['execution.settled', 'root', 'success', { ...inExecution, outcome: 'failure', note: 'it never arrived' }],
    ['hitl.created', 'agent', 'success', {
      flagged, hitlId: ID('hitl'), capability: 'email.send', input: { to: 'a@example.org' }, hitlMode: 'propose',
        expiresAt: TIME, digest: HEX,
    }],
    ['hitl.approved', 'root', 'success', { hitlId: ID('hitl'), comment: 'fine' }],
    ['execution.started', 'root', undefined,
      { ...started, hitlId: ID('hitl'), decisionId: ID('audit'), input: { to: 'a@example.org' } }],
    ['hitl.rejected', 'root', 'success', { hitlId: ID('hitl'), comment: 'no' }],
    ['hitl.cancelled', 'agent', 'success', { hitlId: ID('hitl'), reason: SOME, comment: 'never mind' }],
    ['hitl.timed_out', 'root', 'success', { hitlId: ID('hitl'), action: 'reject' }],
    ['execution.cancelled', 'system', 'success', { ...inExecution, hitlId: ID('hitl'), reason: SOME }],
    ['capability.config_updated', 'root', 'success',
      { grantId: ID('grt'), version: 2, capability: 'crm.push', hitlMode: 'block' }],
    ['agent.token_refreshed', 'agent', 'success', { epoch: 0, expiresAt: TIME }],
    ['agent.updated', 'root', 'success', { name: 'story two', tags: ['us'], cleared: ['description'] }],
    ['capability.revoked', 'root', 'success', { grantId: ID('grt'), capability: 'web.search' }],
    ['execution.blocked', 'agent', 'blocked', { flagged, reason: 'CAPABILITY_NOT_GRANTED' }],
    ['agent.tokens_revoked', 'root', 'success', { epoch: expect.any(Number) }],
    ['agent.deactivated', 'root', 'success', { reason: 'holiday' }],
    ['agent.activated', 'root', 'success', { epoch: expect.any(Number) }],
  ];

  test.each(expected)('%s by %s', (event, actor, outcome, metadata) => {
    const found = log.filter((entry) => entry.event === event && entry.actorId === (actor === 'agent' ? agent.id : actor));
    const matching = found.filter((entry) => {
      try {
        expect(entry.metadata).toMatchObject(metadata);
        return true;
      } catch {
        return false;
      }
    });
    if (matching.length === 0) throw new Error(`no such ${event}; there are ${JSON.stringify(found.map((entry) =>
      entry.metadata), undefined, 1)}`);
    for (const entry of matching) {
      expect(entry).toMatchObject({ id: ID('audit'), agentId: agent.id, timestamp: TIME, hash: HEX });
      expect(entry.outcome).toBe(outcome);
      if (/^(execution|hitl|capability)\./.test(event)) expect(entry.capability).toMatch(/^[a-z.]+$/);
      else expect(entry.capability).toBeUndefined();
    }
  });

  test('every entry but an execution\'s closing one says through which door it came', () => {
    for (const entry of log as (AuditEntry & { origin?: Record<string, unknown> })[]) {
      const closing = entry.event === 'execution.completed' || entry.event === 'execution.failed';
      if (closing) expect(entry.origin).toBeUndefined();
      else if (entry.event === 'execution.cancelled') expect(entry.origin).toEqual({ via: 'worker' });
      else expect(entry.origin).toMatchObject({ via: 'rest', requestId: expect.stringMatching(/^[A-Za-z0-9_-]{8,64}$/),
        address: SOME });
    }
  });

  test('flags stand only when true', async () => {
    const plain = await anAgent(server).granted('web.search').create();
    await plain.client.post(EXECUTE, { capability: 'web.search' });
    for (const { metadata } of await auditOf(server, plain.id)) expect(Object.hasOwn(metadata, 'flagged')).toBe(false);
  });

  test.each(['capability.defined', 'auth.root_key_used', 'auth.agent_jwt_issued'])('%s stands too', async (event) => {
    expect((await root.get('/api/v1/audit', { query: { event, limit: 1 } })).number('total')).toBeGreaterThan(0);
  });

  test('failed authentication is logged, in a count and without the credential', async () => {
    const bad = `svc_root_${'ab'.repeat(32)}`;
    (await as(server, bad).get('/api/v1/agents')).expect(401);
    const [entry] = (await root.get('/api/v1/audit', { query: { event: 'auth.failed' } })).list('entries') as AuditEntry[];
    expect(entry).toMatchObject({ actorId: 'anonymous', outcome: 'failure', metadata: { count: expect.any(Number) } });
    expect(JSON.stringify(entry)).not.toContain('abababab');
  });
});

describe('GET /audit/verify', () => {
  test('finds the log as it was written, then asks for a minute of patience, on every replica', async () => {
    const replica = await startServer({ replicaOf: server });
    try {
      const begun = Date.now();
      const reply = (await root.get('/api/v1/audit/verify')).expect(200);
      const [row] = await server.sql<{ entries: string; chains: string }>(
        'select count(*) as entries, count(distinct chain) as chains from audit_entries');
      expect(reply.body).toMatchObject({ valid: true, verdict: expect.stringMatching(/^valid/), breaks: [], chains: Number(row!.chains),
        durationMs: expect.any(Number) });
      expect(Number(row!.entries) - reply.number('entries')).toBeLessThanOrEqual(1);
      for (const one of [server, replica]) {
        const again = (await asRoot(one).get('/api/v1/audit/verify')).expect(429, 'RATE_LIMITED');
        const [left, gone] = [Number(again.headers.get('retry-after')), (Date.now() - begun) / 1_000];
        expect(left + gone).toBeGreaterThanOrEqual(60);
        expect(left).toBeLessThanOrEqual(60);
      }
    } finally {
      await replica.stop();
    }
  });

  test('gives a caller who asks again meanwhile the answer of the one that runs, and counts it once', async () => {
    // Of everything that reads this table only a verification reads it now.
    const held = await tableHeld(server, 'audit_sweeps');
    try {
      await server.sql('delete from audit_verification_rate_limits');
      const first = root.get('/api/v1/audit/verify');
      await isWaitingOn(server, 'from audit_sweeps');
      const same = root.get('/api/v1/audit/verify');
      // Another part of the log would be another verification.
      (await root.get('/api/v1/audit/verify', { query: { agent_id: agent.id } })).expect(429, 'RATE_LIMITED');
      await held.release();
      expect((await same).expect(200).body).toEqual((await first).expect(200).body);
      (await root.get('/api/v1/audit/verify')).expect(429, 'RATE_LIMITED');
    } finally {
      await held.release();
    }
  });

  test('asked for an agent that is not there it costs nothing', async () => {
    await server.sql('delete from audit_verification_rate_limits');
    for (const unknown of [newId('agt'), newId('agt')]) {
      (await root.get('/api/v1/audit/verify', { query: { agent_id: unknown } })).expect(404, 'NOT_FOUND');
    }
    (await root.get('/api/v1/audit/verify', { query: { agent_id: agent.id } })).expect(200);
    (await root.get('/api/v1/audit/verify', { query: { agent_id: agent.id } })).expect(429, 'RATE_LIMITED');
  });

  test('stays true while calls go on', async () => {
    await server.sql('delete from audit_verification_rate_limits');
    const busy = await anAgent(server).granted('web.search').create();
    const calls = Array.from({ length: 100 }, () => busy.client.post(EXECUTE, { capability: 'web.search' }));
    const verdict = await root.get('/api/v1/audit/verify', { query: { agent_id: busy.id } });
    await Promise.all(calls);
    expect(verdict.expect(200).body).toMatchObject({ valid: true, chains: 1 });
  });
});

test('a request that is waited for shows what the log says of it', async () => {
  const created = log.find(({ event }) => event === 'hitl.created')!;
  const request = await requestOf(server, String(created.metadata['hitlId']));
  expect(created.metadata['digest']).toBe(request.action_digest);
  await eventually(() => expect(created.metadata['expiresAt']).toBe(request['expires_at']), { within: 0 });
});
