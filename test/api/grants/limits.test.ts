import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asAgent, asRoot, type Client } from '../../support/http/actors.js';
import { auditOf } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import {
  callGate as run, callLimit as calls, COUNTED, countingScenario, type CountingScenario, execute, statusOf, sumLimit as sum,
  wrongTotals,
} from '../../support/builders/counting-scenario.js';
import { requestOf } from '../../support/builders/gate.js';
import type { Receiver } from '../../support/http/receiver.js';
import type { TestServer } from '../../support/servers/server.js';

let scenario: CountingScenario;
let server: TestServer;
let replica: TestServer;
let receiver: Receiver;
let root: Client;
let limited: CountingScenario['limited'];
let configure: CountingScenario['configure'];

beforeAll(async () => {
  scenario = await countingScenario();
  ({ server, replica, receiver, limited, configure } = scenario);
  root = asRoot(server);
});
afterAll(() => scenario.close());

const CALL = COUNTED;

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
    expect(await wrongTotals(server)).toEqual([]);
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
    expect(await wrongTotals(server)).toEqual([]);
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

  test('an answer that waited in vain says how they stand, as the one without a wait does', async () => {
    const agent = await limited(calls(1, 'propose'));
    await statusOf(agent);
    const atOnce = (await run(agent)).expect(202).at('limits');
    const waited = (await agent.client.post('/api/v1/execute', { capability: CALL, input: {} }, { query: { wait: 1 } })).expect(202);
    expect(atOnce).toMatchObject([{ max: 1, used: 1, left: 0, retryAfter: expect.any(Number) }]);
    expect(waited.at('limits')).toMatchObject([{ max: 1, used: 2, left: 0, then: 'propose' }]);
    expect(waited.list('reasons')).toMatchObject([{ rule: 'grant_mode' }, { rule: 'limit' }]);
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
    expect(await wrongTotals(server)).toEqual([]);
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

