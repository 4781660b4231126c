import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { asAgent, asRoot, type Client, type Reply } from '../support/actors.js';
import { auditOf } from '../support/audit.js';
import { anAgent, type BuiltAgent } from '../support/builders.js';
import { execute, moveToTeam, tally, teamMates, type Ended } from '../support/counts.js';
import { defineCapability, executionBecomes, executionOf, pauseOutbox, requestOf, resumeOutbox } from '../support/gate.js';
import { aTeam, firstOrganization } from '../support/people.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { startServer, type TestServer } from '../support/server.js';

jest.setTimeout(120_000);

let server: TestServer;
let replica: TestServer;
let root: Client;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startServer();
  replica = await startServer({ replicaOf: server });
  root = asRoot(server);
  await defineCapability(server, 'invoice.send', { connector: { type: 'http', method: 'POST', url: `${receiver.url}/send` } });
});
afterAll(async () => {
  await replica.stop();
  await server.stop();
  await receiver.close();
});

const CALL = 'web.search';
const calls = (max: number, then: string, per = 'hour') => ({ max, per, then });
const sum = (max: number, then: string, per = 'day') => ({ max, per, sum: 'input.amount', then });
const limited = (...limits: object[]) => anAgent(server).granted(CALL, { limits }).create();
const run = ({ client }: Pick<BuiltAgent, 'client'>, input: object = {}, capability = CALL): Promise<Reply<Ended>> =>
  client.post('/api/v1/execute', { capability, input });
const statusOf = async (agent: BuiltAgent, input: object = {}) => (await run(agent, input)).body.status;
const configure = async ({ id }: BuiltAgent, body: object, capability = CALL) =>
  (await root.patch(`/api/v1/agents/${id}/capabilities/${capability}`, body)).expect(200);
const approve = (id: string) => root.post(`/api/v1/hitl/${id}/approve`);

/** What stands against the log's and the uses' own count: the totals are kept beside. */
async function assertTotals(): Promise<void> {
  const wrong = await server.sql(
    `select * from (select organization_id, grant_id, measure, sum(amount) as amount from grant_uses group by 1, 2, 3) u
     full join grant_totals t using (organization_id, grant_id, measure) where coalesce(u.amount, 0) <> coalesce(t.amount, 0)`,
  );
  expect(wrong).toEqual([]);
}

describe('a limit of calls', () => {
  test('lets so many through and blocks the next, with its reason, and says so in the log', async () => {
    const agent = await limited(calls(2, 'block'));
    expect([await statusOf(agent), await statusOf(agent)]).toEqual(['executed', 'executed']);
    const blocked = (await run(agent)).expect(200);
    expect(blocked.body).toMatchObject({ status: 'blocked', reason: 'capability blocked by policy', effectiveMode: 'block' });
    const entry = (await auditOf(server, agent.id)).at(-1)!;
    expect(entry).toMatchObject({ event: 'execution.blocked', outcome: 'blocked' });
    expect(entry.metadata.reasons).toEqual([
      { rule: 'grant_mode', detail: 'The grant says auto.' },
      { rule: 'limit', detail: 'Limit 1 (2 calls per hour) is used up, so block applies.' },
    ]);
    await assertTotals();
  });

  test.each(['propose', 'escalate'])('asks a person past it: %s', async (then) => {
    const agent = await limited(calls(1, then));
    expect(await statusOf(agent)).toBe('executed');
    const asked = (await run(agent)).expect(202);
    expect(asked.body).toMatchObject({ status: 'pending_hitl', effectiveMode: then });
    expect(await requestOf(server, asked.text('hitlRequestId'))).toMatchObject({ hitl_mode: then });
  });

  test('of none lets none through; a condition and a limit hold the stricter of both', async () => {
    const none = await limited(calls(0, 'block'));
    expect(await statusOf(none)).toBe('blocked');
    const both = await anAgent(server).granted(CALL, {
      limits: [calls(0, 'propose')], conditions: [{ when: 'input.n > 5.0', hitlMode: 'block' }, { when: 'true', hitlMode: 'notify' }],
    }).create();
    expect([await statusOf(both, { n: 1 }), await statusOf(both, { n: 9 })]).toEqual(['pending_hitl', 'blocked']);
  });

  test('blocks a hardcoded capability too, which nothing else of a grant does', async () => {
    const agent = await anAgent(server).granted('phone.call', { limits: [calls(1, 'block')] }).create();
    expect((await run(agent, {}, 'phone.call')).body.status).toBe('pending_hitl');
    expect((await run(agent, {}, 'phone.call')).body.status).toBe('blocked');
  });

  test('slides: what was done before the window is not in it, but in the total', async () => {
    const agent = await limited(calls(1, 'block', 'minute'), calls(3, 'block', 'total'));
    expect([await statusOf(agent), await statusOf(agent)]).toEqual(['executed', 'blocked']);
    await anHourPasses(agent);
    expect([await statusOf(agent), await statusOf(agent)]).toEqual(['executed', 'blocked']);
    await anHourPasses(agent);
    expect(await statusOf(agent)).toBe('executed');
    await anHourPasses(agent);
    expect(await statusOf(agent)).toBe('blocked');
  });

  test('a dry run tells it and counts nothing', async () => {
    const agent = await limited(calls(1, 'propose'));
    const dry = () => agent.client.post('/api/v1/execute', { capability: CALL, dryRun: true });
    for (let i = 0; i < 3; i++) expect((await dry()).expect(200).at('decision')).toBe('run');
    expect(await statusOf(agent)).toBe('executed');
    expect((await dry()).expect(200).body).toMatchObject({ decision: 'ask', effectiveMode: 'propose' });
  });

  test('counts what failed: it may have acted', async () => {
    receiver.script({ status: 500 });
    const agent = await anAgent(server).granted('invoice.send', { limits: [calls(1, 'block')] }).create();
    expect((await run(agent, {}, 'invoice.send')).body.status).toBe('failed');
    expect((await run(agent, {}, 'invoice.send')).body.status).toBe('blocked');
  });

  test('counts requests of adapters, and refuses one past it', async () => {
    const agent = await limited(calls(1, 'block'));
    const ask = () => agent.client.post('/api/v1/hitl', { capability: CALL, payload: {} });
    const asked = (await ask()).expect(201);
    (await ask()).expect(403, 'CAPABILITY_BLOCKED');
    (await root.post(`/api/v1/hitl/${asked.text('request.id')}/reject`)).expect(200);
    (await ask()).expect(201);
    expect(await statusOf(agent)).toBe('blocked');
  });

  test('a retry under an idempotency key counts once', async () => {
    const agent = await limited(calls(2, 'block'));
    for (let i = 0; i < 4; i++) expect((await execute(agent.client, CALL, {}, 'one')).status).toBe('executed');
    expect([await statusOf(agent), await statusOf(agent)]).toEqual(['executed', 'blocked']);
  });

  /** What the agent did, it did an hour and more ago. */
  const anHourPasses = ({ id }: BuiltAgent) =>
    server.sql(`update grant_uses set used_at = used_at - interval '61 minutes'
                where grant_id in (select id from capability_grants where agent_id = $1)`, [id]);
});

describe('a limit of a sum', () => {
  test('adds up exactly: a tenth and two tenths fit into three', async () => {
    const agent = await limited(sum(0.3, 'block'));
    expect([await statusOf(agent, { amount: 0.1 }), await statusOf(agent, { amount: 0.2 })]).toEqual(['executed', 'executed']);
    expect([await statusOf(agent, { amount: 1e-15 }), await statusOf(agent, { amount: 0 })]).toEqual(['blocked', 'executed']);
    await assertTotals();
  });

  test.each([['missing', {}], ['text', { amount: '1' }], ['negative', { amount: -1 }], ['true', { amount: true }]])(
    'that is %s applies what is strictest and uses nothing up', async (_, input) => {
      const agent = await limited(sum(10, 'block', 'total'), sum(10, 'propose'));
      expect(await statusOf(agent, input)).toBe('blocked');
      expect([await statusOf(agent, { amount: 10 }), await statusOf(agent, { amount: 1 })]).toEqual(['executed', 'blocked']);
    });

  test.each<[string, string, number]>([['input.amount >', 'input.amount >', 14], ['a truth', 'input.a > 1.0', 9], ['a name', 'user.a', 1]])(
    'that cannot be one is refused with its place: %s', async (_, expression, column) => {
      const agent = await anAgent(server).create();
      const limits = [calls(1, 'block'), { ...sum(1, 'block'), sum: expression }];
      const refused = [
        await root.post(`/api/v1/agents/${agent.id}/capabilities`, { capability: CALL, limits }),
        await root.post('/api/v1/agents', { name: 'x', grants: [{ capability: CALL, limits }] }),
      ];
      refused[0]!.expect(422, 'INVALID_CONDITION');
      expect(refused[0]!.text('errors.0.pointer')).toBe('/limits/1/sum');
      expect(Math.abs(refused[0]!.number('position.column') - column)).toBeLessThanOrEqual(2);
      expect(refused[1]!.expect(422, 'INVALID_CONDITION').text('errors.0.pointer')).toBe('/grants/0/limits/1/sum');
    });
});

describe('what is said of limits', () => {
  test('a grant shows them, and its entries', async () => {
    const agent = await limited({ max: 2.5, per: 'total', sum: 'input.amount', then: 'escalate' });
    const shown = [{ max: 2.5, per: 'total', sum: 'input.amount', then: 'escalate' }];
    expect((await root.get(`/api/v1/agents/${agent.id}/capabilities`)).at('grants.0.limits')).toEqual(shown);
    const changed = await configure(agent, { limits: [calls(7, 'block')] });
    expect(changed.at('grant')).toMatchObject({ version: 2, limits: [calls(7, 'block')] });
    expect((await configure(agent, { limits: [] })).body).not.toHaveProperty('grant.limits');
    const entries = (await auditOf(server, agent.id)).filter(({ event }) => event.startsWith('capability.'));
    expect(entries.map(({ metadata }) => metadata.limits)).toEqual([shown, [calls(7, 'block')], undefined]);
  });

  test('they count from when they are set; what was counted stays as long as the grant does', async () => {
    const agent = await anAgent(server).granted(CALL).create();
    expect([await statusOf(agent), await statusOf(agent)]).toEqual(['executed', 'executed']);
    await configure(agent, { limits: [calls(1, 'block')] });
    expect([await statusOf(agent), await statusOf(agent)]).toEqual(['executed', 'blocked']);
    (await root.post('/api/v1/capabilities/grant',
      { agentId: agent.id, capability: CALL, hitlMode: 'auto', limits: [calls(2, 'block')] })).expect(200);
    expect([await statusOf(agent), await statusOf(agent)]).toEqual(['executed', 'blocked']);
    const [{ id }] = (await root.get(`/api/v1/agents/${agent.id}/capabilities`)).list('grants') as [{ id: string }];
    (await root.delete(`/api/v1/capabilities/grant/${id}`)).expect(204);
    (await root.post('/api/v1/capabilities/grant',
      { agentId: agent.id, capability: CALL, hitlMode: 'auto', limits: [calls(1, 'block')] })).expect(201);
    expect([await statusOf(agent), await statusOf(agent)]).toEqual(['executed', 'blocked']);
    await assertTotals();
  });

  test('a limit set on one server holds on the next call on the other', async () => {
    const agent = await anAgent(server).granted(CALL).create();
    const there = asAgent(replica, agent.token);
    expect((await execute(there, CALL, {})).status).toBe('executed');
    await configure(agent, { limits: [calls(0, 'block')] });
    expect((await execute(there, CALL, {})).status).toBe('blocked');
    await configure(agent, { limits: [] });
    expect((await execute(there, CALL, {})).status).toBe('executed');
  });
});

describe('requests under limits', () => {
  const asked = async (agent: BuiltAgent, input: object = {}, capability = CALL) => {
    const { executionId, hitlRequestId } = (await run(agent, input, capability)).expect(202).body;
    return { executionId: executionId!, hitlRequestId: hitlRequestId! };
  };

  test('what is rejected or cancelled gives its share back; what is approved keeps it', async () => {
    const agent = await limited(sum(10, 'block', 'total'), calls(0, 'propose'));
    const first = await asked(agent, { amount: 10 });
    expect(await statusOf(agent, { amount: 1 })).toBe('blocked');
    (await root.post(`/api/v1/hitl/${first.hitlRequestId}/reject`)).expect(200);
    const second = await asked(agent, { amount: 10 });
    (await agent.client.post(`/api/v1/executions/${second.executionId}/cancel`)).expect(200);
    const third = await asked(agent, { amount: 10 });
    (await approve(third.hitlRequestId)).expect(200);
    expect(await statusOf(agent, { amount: 1 })).toBe('blocked');
    await assertTotals();
  });

  test('what nobody decided in time gives its share back', async () => {
    const agent = await anAgent(server).granted(CALL, { limits: [calls(1, 'block')], hitlMode: 'propose', hitl_timeout_seconds: 1 }).create();
    const { executionId } = await asked(agent);
    expect(await statusOf(agent)).toBe('blocked');
    await executionBecomes(server, executionId, 'cancelled', 30_000);
    expect(await statusOf(agent)).toBe('pending_hitl');
  });

  test('an approval is not in its own way when its limit is used up', async () => {
    const agent = await anAgent(server).granted(CALL, { hitlMode: 'propose', limits: [calls(1, 'block'), sum(5, 'block', 'total')] }).create();
    const { executionId, hitlRequestId } = await asked(agent, { amount: 5 });
    (await approve(hitlRequestId)).expect(200);
    expect(await executionOf(server, executionId)).toMatchObject({ status: 'executed' });
    expect(await statusOf(agent, { amount: 0 })).toBe('blocked');
  });

  test('a limit that was lowered meanwhile refuses it, and its share is given back', async () => {
    const agent = await anAgent(server).granted(CALL, { hitlMode: 'propose', limits: [sum(5, 'block', 'total')] }).create();
    const { hitlRequestId } = await asked(agent, { amount: 5 });
    await configure(agent, { limits: [sum(4, 'block', 'total')] });
    (await approve(hitlRequestId)).expect(409, 'NOT_EXECUTABLE');
    expect(await requestOf(server, hitlRequestId)).toMatchObject({ status: 'cancelled', decided_by: 'system' });
    const { hitlRequestId: next } = await asked(agent, { amount: 4 });
    (await approve(next)).expect(200);
    await assertTotals();
  });

  test('it begins in the hour in which it is approved, not in that in which it was asked', async () => {
    const agent = await anAgent(server).granted(CALL, { hitlMode: 'propose', limits: [calls(1, 'block', 'minute')] }).create();
    const first = await asked(agent);
    await server.sql(`update grant_uses set used_at = used_at - interval '2 minutes' where execution_id = $1`, [first.executionId]);
    const second = await asked(agent);
    (await approve(first.hitlRequestId)).expect(409, 'NOT_EXECUTABLE');
    await server.sql(`update grant_uses set used_at = used_at - interval '2 minutes' where execution_id = $1`, [second.executionId]);
    (await approve(second.hitlRequestId)).expect(200);
    expect(await statusOf(agent)).toBe('blocked');
    await assertTotals();
  });

  test('two that were asked long ago and are approved at once do not pass it together', async () => {
    const teamId = await aTeam(server, await firstOrganization(server));
    (await root.post('/api/v1/capabilities/grant',
      { teamId, capability: CALL, hitlMode: 'propose', limits: [calls(1, 'block', 'minute')] })).expect(201);
    const mates = await teamMates(server, teamId, 8);
    const waiting: string[] = [];
    for (const mate of mates) {
      const { executionId, hitlRequestId } = await asked(mate);
      await server.sql(`update grant_uses set used_at = used_at - interval '2 minutes' where execution_id = $1`, [executionId]);
      waiting.push(hitlRequestId);
    }
    const decided = await Promise.all(waiting.map((id, i) => asRoot(i % 2 ? server : replica).post(`/api/v1/hitl/${id}/approve`)));
    expect(decided.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409, 409, 409]);
    await assertTotals();
  });

  test('under another grant than it was asked under it is counted there', async () => {
    const agent = await anAgent(server).granted(CALL, { hitlMode: 'propose' }).create();
    const requests = [await asked(agent), await asked(agent), await asked(agent)];
    const [{ id }] = (await root.get(`/api/v1/agents/${agent.id}/capabilities`)).list('grants') as [{ id: string }];
    (await root.delete(`/api/v1/capabilities/grant/${id}`)).expect(204);
    (await root.post('/api/v1/capabilities/grant',
      { agentId: agent.id, capability: CALL, hitlMode: 'propose', limits: [calls(2, 'block', 'total')] })).expect(201);
    const decided: number[] = [];
    for (const { hitlRequestId } of requests) decided.push((await approve(hitlRequestId)).status);
    expect(decided).toEqual([200, 200, 409]);
    expect(await statusOf(agent)).toBe('blocked');
    await assertTotals();
  });

  test('its share moves along when another grant lets it begin', async () => {
    const teamId = await aTeam(server, await firstOrganization(server));
    const agent = await anAgent(server).granted(CALL, { hitlMode: 'propose', limits: [calls(1, 'block', 'total')] }).create();
    const { hitlRequestId } = await asked(agent);
    (await root.post('/api/v1/capabilities/grant', { teamId, capability: CALL, hitlMode: 'propose', limits: [calls(1, 'block')] })).expect(201);
    await moveToTeam(server, [agent.id], teamId);
    await configure(agent, { expiresAt: new Date(Date.now() - 1_000).toISOString() });
    (await approve(hitlRequestId)).expect(200);
    expect(await statusOf(agent)).toBe('blocked');
    (await root.post('/api/v1/capabilities/grant',
      { agentId: agent.id, capability: CALL, hitlMode: 'auto', limits: [calls(1, 'block', 'total')] })).expect(200);
    expect([await statusOf(agent), await statusOf(agent)]).toEqual(['executed', 'blocked']);
    await assertTotals();
  });

  test('what was approved and may not begin any more gives its share back', async () => {
    const agent = await anAgent(server).granted('invoice.send', { hitlMode: 'propose', limits: [calls(1, 'block', 'total')] }).create();
    const { executionId, hitlRequestId } = await asked(agent, {}, 'invoice.send');
    await pauseOutbox(server);
    (await approve(hitlRequestId)).expect(200);
    await configure(agent, { limits: [calls(0, 'block', 'total')] }, 'invoice.send');
    await resumeOutbox(server);
    expect(await executionBecomes(server, executionId, 'cancelled', 30_000)).toMatchObject({ reason: 'blocked' });
    await configure(agent, { limits: [calls(1, 'block', 'total')] }, 'invoice.send');
    const next = await asked(agent, {}, 'invoice.send');
    (await approve(next.hitlRequestId)).expect(200);
    expect(await executionBecomes(server, next.executionId, 'executed', 30_000)).toBeDefined();
    expect((await run(agent, {}, 'invoice.send')).body.status).toBe('blocked');
    await assertTotals();
  });

  test('what is left of a removed agent gives a team\'s limit its share back', async () => {
    const teamId = await aTeam(server, await firstOrganization(server));
    (await root.post('/api/v1/capabilities/grant',
      { teamId, capability: CALL, hitlMode: 'propose', limits: [calls(2, 'block', 'total')] })).expect(201);
    const [goes, stays] = await teamMates(server, teamId, 2);
    await asked(goes!);
    await asked(goes!);
    expect(await statusOf(stays!)).toBe('blocked');
    (await root.delete(`/api/v1/agents/${goes!.id}`)).expect(204);
    expect(await statusOf(stays!)).toBe('pending_hitl');
    await assertTotals();
  });
});

describe('calls in parallel, on two servers', () => {
  const both = ({ token }: BuiltAgent) => [asAgent(server, token), asAgent(replica, token)];

  test.each(['one agent', 'ten agents of a team'])('%s: exactly as many as the limit says', async (who) => {
    for (const [limit, input] of [[calls(10, 'block', 'total'), {}], [sum(1, 'block'), { amount: 0.1 }]] as const) {
      const clients = await callersUnder(who, limit);
      const ended = await Promise.all(Array.from({ length: 64 }, (_, i) => execute(clients[i % clients.length]!, CALL, input)));
      expect(tally(ended)).toEqual({ executed: 10, blocked: 54 });
    }
    await assertTotals();
  });

  test.each(['one agent', 'ten agents of a team'])('%s: past it a person is asked', async (who) => {
    const clients = await callersUnder(who, calls(10, 'propose', 'total'));
    const ended = await Promise.all(Array.from({ length: 64 }, (_, i) => execute(clients[i % clients.length]!, CALL, {})));
    expect(tally(ended)).toEqual({ executed: 10, pending_hitl: 54 });
  });

  test('retries among them do not count twice, and what is rejected makes room', async () => {
    const clients = await callersUnder('one agent', calls(10, 'block', 'total'), 'propose');
    // 16 calls, each sent four times under its key.
    const ended = await Promise.all(Array.from({ length: 64 }, (_, i) => execute(clients[(i >> 1) % 2]!, CALL, {}, `key-${i % 16}`)));
    const distinct = [...new Map(ended.map((one) => [one.executionId, one])).values()];
    expect(tally(distinct)).toEqual({ pending_hitl: 10, blocked: 6 });
    const waiting = distinct.flatMap(({ hitlRequestId }) => hitlRequestId ?? []);
    await Promise.all(waiting.slice(0, 4).map(async (id, i) => (await asRoot(i % 2 ? server : replica).post(`/api/v1/hitl/${id}/reject`)).expect(200)));
    const more = await Promise.all(Array.from({ length: 12 }, (_, i) => execute(clients[i % 2]!, CALL, {})));
    expect(tally(more)).toEqual({ pending_hitl: 4, blocked: 8 });
    await assertTotals();
  });

  async function callersUnder(who: string, limit: object, hitlMode = 'auto'): Promise<Client[]> {
    if (who === 'one agent') return both(await anAgent(server).granted(CALL, { hitlMode, limits: [limit] }).create());
    const teamId = await aTeam(server, await firstOrganization(server));
    (await root.post('/api/v1/capabilities/grant', { teamId, capability: CALL, hitlMode, limits: [limit] })).expect(201);
    return (await teamMates(server, teamId, 10)).flatMap(both);
  }
});
