import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { asRoot, type Client } from '../../support/http/actors.js';
import { auditOf } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { executionBecomes, requestOf } from '../../support/builders/gate.js';
import { anOrganization, aPerson, aStop, aTeam, type BuiltPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const BATCH = '/api/v1/hitl/batch';

let server: TestServer;
let organizationId: string;
let admin: BuiltPerson;
let agent: BuiltAgent;

beforeAll(async () => {
  server = await startServer();
  organizationId = await anOrganization(server);
  admin = await aPerson(server, 'admin', { organizationId });
  await aPerson(server, 'admin', { organizationId });
  agent = await anAgent(server).inOrganization(organizationId).granted('email.send', { hitlMode: 'propose' }).create();
});

afterAll(() => server.stop());

interface Item {
  readonly id: string;
  readonly expectedDigest?: string;
}

interface Result {
  readonly id: string;
  readonly status: number;
  readonly request?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: string; readonly title: string; readonly detail: string; readonly request?: unknown };
}

async function asked(of = agent, context?: Readonly<Record<string, string>>): Promise<Required<Item>> {
  const call = { capability: 'email.send', input: { to: 'a@example.org' }, ...(context ? { context } : {}) };
  const id = (await of.client.post('/api/v1/execute', call)).expect(202).text('hitlRequestId');
  return { id, expectedDigest: (await requestOf(server, id)).action_digest };
}

const some = (count: number): Promise<Required<Item>[]> => Promise.all(Array.from({ length: count }, () => asked()));

async function decided(by: Client, items: readonly Item[], decision = 'approve', more = {}): Promise<Result[]> {
  return (await by.post(BATCH, { items, decision, ...more })).expect(200).list('results') as Result[];
}

const codes = (results: readonly Result[]) => results.map(({ status, error }) => (error ? `${status} ${error.code}` : status));

describe('POST /hitl/batch', () => {
  test('decides each as if alone, and tells of each in order', async () => {
    const [good, late, other, unshown] = await some(4) as [Required<Item>, Required<Item>, Required<Item>, Required<Item>];
    (await admin.client.post(`/api/v1/hitl/${late.id}/reject`)).expect(200);
    const stranger = await anAgent(server).granted('email.send', { hitlMode: 'propose' }).create();
    const foreign = await asked(stranger);
    const own = await asked(agent, { on_behalf_of: admin.id });
    const items = [late, { id: 'hitl_nobody' }, { ...other, expectedDigest: '0'.repeat(64) }, { id: unshown.id }, foreign, own, good];
    const results = await decided(admin.client, items, 'approve', { note: 'all of them' });
    expect(results.map(({ id }) => id)).toEqual(items.map(({ id }) => id));
    expect(codes(results)).toEqual([
      '409 HITL_ALREADY_DECIDED', '404 NOT_FOUND', '409 HITL_DIGEST_MISMATCH', '409 HITL_DIGEST_MISMATCH', '404 NOT_FOUND',
      // On whose behalf it is asked opens at level 2: that comes before who they are.
      '403 NOT_ELIGIBLE', 200,
    ]);
    expect(results[0]!.error).toMatchObject({
      title: expect.any(String), detail: 'The request is rejected.', request: { id: late.id, status: 'rejected', decidedBy: admin.id },
    });
    expect(results[3]!.error!.detail).toContain('actionDigest');
    expect(results[6]!.request).toMatchObject({ id: good.id, status: 'approved', approvedBy: admin.id, comment: 'all of them' });
    for (const { id } of [other, unshown, foreign, own]) expect((await requestOf(server, id)).status).toBe('pending');
    const { execution } = await requestOf(server, good.id);
    await executionBecomes(server, execution!.id, 'executed');
  });

  test('approves nothing of level 2, and rejects it', async () => {
    const items = await some(2);
    await server.sql('update hitl_requests set escalation_level = 2 where id = any ($1)', [items.map(({ id }) => id)]);
    const refused = await decided(admin.client, items);
    expect(codes(refused)).toEqual(['403 NOT_ELIGIBLE', '403 NOT_ELIGIBLE']);
    expect(refused[0]!.error!.detail).toContain('level 2');
    // Nor by root, who may do everything else.
    expect(codes(await decided(asRoot(server), items))).toEqual(['403 NOT_ELIGIBLE', '403 NOT_ELIGIBLE']);
    expect(codes(await decided(admin.client, items, 'reject'))).toEqual([200, 200]);
  });

  test('asks of each who may decide it: a member decides what is theirs', async () => {
    const member = await aPerson(server, 'member', { organizationId });
    const teamId = await aTeam(server, organizationId, [{ userId: member.id }]);
    const theirs = await anAgent(server).inOrganization(organizationId).granted('email.send', { hitlMode: 'propose' }).create();
    await server.sql('update agents set team_id = $2 where id = $1', [theirs.id, teamId]);
    await server.sql('update audit_heads set revision = revision + 1 where chain = $1', [theirs.id]);
    const [mine, another] = [await asked(theirs), await asked()];
    expect(codes(await decided(member.client, [mine, another]))).toEqual([200, '403 NOT_ELIGIBLE']);
    const viewer = await aPerson(server, 'viewer', { organizationId });
    for (const nobody of [viewer.client, agent.client]) {
      (await nobody.post(BATCH, { items: [another], decision: 'approve' })).expect(403, 'FORBIDDEN');
    }
  });

  test('the same item twice is decided once', async () => {
    const [item] = await some(1);
    const results = await decided(admin.client, [item!, item!], 'reject');
    expect(codes(results)).toEqual([200, 200]);
    expect(results[0]).toEqual(results[1]);
    expect((await auditOf(server, agent.id)).filter(({ metadata }) => metadata?.['hitlId'] === item!.id).map(({ event }) => event))
      .toEqual(['hitl.created', 'hitl.rejected']);
  });

  test('the same request again, without its digest or with another, is answered for itself', async () => {
    const [item] = await some(1);
    const other = `${item!.expectedDigest!.slice(0, -1)}${item!.expectedDigest!.endsWith('0') ? '1' : '0'}`;
    const results = await decided(admin.client, [item!, { id: item!.id }, { id: item!.id, expectedDigest: other }], 'reject');
    expect(results.map(({ status }) => status)).toEqual([200, 409, 409]);
  });

  test.each([
    ['no items', { items: [], decision: 'approve' }, '/items'],
    ['too many', { items: Array.from({ length: 101 }, () => ({ id: 'hitl_nobody' })), decision: 'approve' }, '/items'],
    ['another decision', { items: [{ id: 'hitl_nobody' }], decision: 'cancel' }, '/decision'],
    ['no decision', { items: [{ id: 'hitl_nobody' }] }, '/decision'],
    ['an item without an id', { items: [{ id: 'hitl_nobody' }, {}], decision: 'approve' }, '/items/1/id'],
    ['what is no digest', { items: [{ id: 'hitl_nobody', expectedDigest: 'x' }], decision: 'approve' }, '/items/0/expectedDigest'],
  ])('%s: 400, and nothing is decided', async (_, body, pointer) => {
    const refused = (await admin.client.post(BATCH, body)).expect(400, 'VALIDATION_FAILED');
    expect((refused.at('errors') as { pointer: string }[]).map((error) => error.pointer)).toContain(pointer);
  });

  test('thirty, of which one agent is stopped and one chain is held by somebody', async () => {
    const agents = await Promise.all(Array.from({ length: 3 }, () =>
      anAgent(server).inOrganization(organizationId).granted('email.send', { hitlMode: 'propose' }).create()));
    const items = await Promise.all(Array.from({ length: 30 }, (_, i) => asked(i < 28 ? agents[0]! : agents[i - 27]!)));
    const stopped = agents[1]!;
    await aStop(server, organizationId, { agentId: stopped.id });
    const holder = new pg.Client({ connectionString: server.database.url });
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query('select 1 from audit_heads where chain = $1 for update', [agents[2]!.id]);
      const results = codes(await decided(admin.client, items));
      expect(results.slice(0, 28)).toEqual(Array.from({ length: 28 }, () => 200));
      expect(results.slice(28)).toEqual(['403 STOPPED', '503 UNAVAILABLE']);
    } finally {
      await holder.query('rollback');
      await holder.end();
    }
    expect(codes(await decided(admin.client, items.slice(29)))).toEqual([200]);
  });
});

describe('Idempotency-Key', () => {
  test('is good for each item: a repeated batch answers what was done and does the rest', async () => {
    const [done, left] = await some(2) as [Required<Item>, Required<Item>];
    const keyed = admin.client.with({ 'idempotency-key': 'batch-1' });
    // As if the first call had broken off behind its first item.
    expect(codes(await decided(keyed, [done]))).toEqual([200]);
    expect(codes(await decided(keyed, [done, left]))).toEqual([200, 200]);
    expect(codes(await decided(keyed, [done, left]))).toEqual([200, 200]);
    // Without the key it is a second decision.
    expect(codes(await decided(admin.client, [done, left]))).toEqual(['409 HITL_ALREADY_DECIDED', '409 HITL_ALREADY_DECIDED']);
    expect(codes(await decided(keyed, [done], 'reject'))).toEqual(['422 IDEMPOTENCY_KEY_REUSED']);
    const entries = (await auditOf(server, agent.id)).filter(({ event }) => event === 'hitl.approved');
    expect(entries.filter(({ metadata }) => [done.id, left.id].includes(String(metadata?.['hitlId'])))).toHaveLength(2);
  });

  test('what failed is tried again, and two at once decide once', async () => {
    const [item] = await some(1);
    const keyed = admin.client.with({ 'idempotency-key': 'batch-2' });
    const stop = await aStop(server, organizationId, { agentId: agent.id });
    expect(codes(await decided(keyed, [item!]))).toEqual(['403 STOPPED']);
    await server.sql(`update stops set lifted_at = clock_timestamp(), lifted_by = 'root' where id = $1`, [stop]);
    const both = await Promise.all([decided(keyed, [item!]), decided(keyed, [item!])]);
    for (const [answer] of both) expect([200, 409]).toContain(answer!.status);
    expect(codes(await decided(keyed, [item!]))).toEqual([200]);
    const entries = (await auditOf(server, agent.id)).filter(({ metadata }) => metadata?.['hitlId'] === item!.id);
    expect(entries.filter(({ event }) => event === 'hitl.approved')).toHaveLength(1);
    (await admin.client.with({ 'idempotency-key': 'x'.repeat(256) }).post(BATCH, { items: [item], decision: 'approve' }))
      .expect(400, 'VALIDATION_FAILED');
  });
});
