import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asAgent, asRoot, type Client } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import {
  callGate as run, callLimit as calls, COUNTED, countingScenario, type CountingScenario, execute, moveToTeam, statusOf,
  sumLimit as sum, tally, teamMates, wrongTotals,
} from '../../support/builders/counting-scenario.js';
import { executionBecomes, executionOf, pauseOutbox, requestOf, resumeOutbox } from '../../support/builders/gate.js';
import { aTeam, firstOrganization } from '../../support/builders/people.js';
import type { TestServer } from '../../support/servers/server.js';

let scenario: CountingScenario;
let server: TestServer;
let replica: TestServer;
let root: Client;
let limited: CountingScenario['limited'];
let configure: CountingScenario['configure'];

beforeAll(async () => {
  scenario = await countingScenario();
  ({ server, replica, limited, configure } = scenario);
  root = asRoot(server);
});
afterAll(() => scenario.close());

const CALL = COUNTED;
const asking = (terms: object) => anAgent(server).granted(CALL, { hitlMode: 'propose', ...terms }).create();
const share = async (teamId: string, terms: object) =>
  (await root.post('/api/v1/capabilities/grant', { teamId, capability: CALL, ...terms })).expect(201);
const approve = (id: string) => root.post(`/api/v1/hitl/${id}/approve`);

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
    expect(await wrongTotals(server)).toEqual([]);
  });

  test('what nobody decided in time gives its share back', async () => {
    const agent = await asking({ limits: [calls(1, 'block')], hitl_timeout_seconds: 1 });
    const { executionId } = await asked(agent);
    expect(await statusOf(agent)).toBe('blocked');
    await executionBecomes(server, executionId, 'cancelled', 30_000);
    expect(await statusOf(agent)).toBe('pending_hitl');
  });

  test('an approval is not in its own way when its limit is used up', async () => {
    const agent = await asking({ limits: [calls(1, 'block'), sum(5, 'block', 'total')] });
    const { executionId, hitlRequestId } = await asked(agent, { amount: 5 });
    (await approve(hitlRequestId)).expect(200);
    expect(await executionOf(server, executionId)).toMatchObject({ status: 'executed' });
    expect(await statusOf(agent, { amount: 0 })).toBe('blocked');
  });

  test('a limit that was lowered meanwhile refuses it, and its share is given back', async () => {
    const agent = await asking({ limits: [sum(5, 'block', 'total')] });
    const { hitlRequestId } = await asked(agent, { amount: 5 });
    await configure(agent, { limits: [sum(4, 'block', 'total')] });
    (await approve(hitlRequestId)).expect(409, 'NOT_EXECUTABLE');
    expect(await requestOf(server, hitlRequestId)).toMatchObject({ status: 'cancelled', decided_by: 'system' });
    const { hitlRequestId: next } = await asked(agent, { amount: 4 });
    (await approve(next)).expect(200);
    expect(await wrongTotals(server)).toEqual([]);
  });

  test('it begins in the hour in which it is approved, not in that in which it was asked', async () => {
    const agent = await asking({ limits: [calls(1, 'block', 'minute')] });
    const first = await asked(agent);
    await server.sql(`update grant_uses set used_at = used_at - interval '2 minutes' where execution_id = $1`, [first.executionId]);
    const second = await asked(agent);
    (await approve(first.hitlRequestId)).expect(409, 'NOT_EXECUTABLE');
    await server.sql(`update grant_uses set used_at = used_at - interval '2 minutes' where execution_id = $1`, [second.executionId]);
    (await approve(second.hitlRequestId)).expect(200);
    expect(await statusOf(agent)).toBe('blocked');
    expect(await wrongTotals(server)).toEqual([]);
  });

  test('two that were asked long ago and are approved at once do not pass it together', async () => {
    const teamId = await aTeam(server, await firstOrganization(server));
    await share(teamId, { hitlMode: 'propose', limits: [calls(1, 'block', 'minute')] });
    const mates = await teamMates(server, teamId, 8);
    const waiting: string[] = [];
    for (const mate of mates) {
      const { executionId, hitlRequestId } = await asked(mate);
      await server.sql(`update grant_uses set used_at = used_at - interval '2 minutes' where execution_id = $1`, [executionId]);
      waiting.push(hitlRequestId);
    }
    const decided = await Promise.all(waiting.map((id, i) => asRoot(i % 2 ? server : replica).post(`/api/v1/hitl/${id}/approve`)));
    expect(decided.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409, 409, 409]);
    expect(await wrongTotals(server)).toEqual([]);
  });

  test('under another grant than it was asked under it is counted there', async () => {
    const agent = await asking({});
    const requests = [await asked(agent), await asked(agent), await asked(agent)];
    const [{ id }] = (await root.get(`/api/v1/agents/${agent.id}/capabilities`)).list('grants') as [{ id: string }];
    (await root.delete(`/api/v1/capabilities/grant/${id}`)).expect(204);
    (await root.post('/api/v1/capabilities/grant',
      { agentId: agent.id, capability: CALL, hitlMode: 'propose', limits: [calls(2, 'block', 'total')] })).expect(201);
    const decided: number[] = [];
    for (const { hitlRequestId } of requests) decided.push((await approve(hitlRequestId)).status);
    expect(decided).toEqual([200, 200, 409]);
    expect(await statusOf(agent)).toBe('blocked');
    expect(await wrongTotals(server)).toEqual([]);
  });

  test('its share moves along when another grant lets it begin', async () => {
    const teamId = await aTeam(server, await firstOrganization(server));
    const agent = await asking({ limits: [calls(1, 'block', 'total')] });
    const { hitlRequestId } = await asked(agent);
    await share(teamId, { hitlMode: 'propose', limits: [calls(1, 'block')] });
    await moveToTeam(server, [agent.id], teamId);
    await configure(agent, { expiresAt: new Date(Date.now() - 1_000).toISOString() });
    (await approve(hitlRequestId)).expect(200);
    expect(await statusOf(agent)).toBe('blocked');
    (await root.post('/api/v1/capabilities/grant',
      { agentId: agent.id, capability: CALL, hitlMode: 'auto', expiresAt: null, limits: [calls(1, 'block', 'total')] })).expect(200);
    expect([await statusOf(agent), await statusOf(agent)]).toEqual(['executed', 'blocked']);
    expect(await wrongTotals(server)).toEqual([]);
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
    expect(await wrongTotals(server)).toEqual([]);
  });

  test('what is left of a removed agent gives a team\'s limit its share back', async () => {
    const teamId = await aTeam(server, await firstOrganization(server));
    await share(teamId, { hitlMode: 'propose', limits: [calls(2, 'block', 'total')] });
    const [goes, stays] = await teamMates(server, teamId, 2);
    await asked(goes!);
    await asked(goes!);
    expect(await statusOf(stays!)).toBe('blocked');
    (await root.delete(`/api/v1/agents/${goes!.id}`)).expect(204);
    expect(await statusOf(stays!)).toBe('pending_hitl');
    expect(await wrongTotals(server)).toEqual([]);
  });
});

describe('calls in parallel, on two servers', () => {
  const both = ({ token }: BuiltAgent) => [asAgent(server, token), asAgent(replica, token)];

  test.each(['one agent', 'four agents of a team'])('%s: exactly as many as the limit says', async (who) => {
    for (const [limit, input] of [[calls(4, 'block', 'hour'), {}], [sum(0.4, 'block', 'hour'), { amount: 0.1 }]] as const) {
      const clients = await callersUnder(who, limit);
      const ended = await Promise.all(Array.from({ length: 16 }, (_, i) => execute(clients[i % clients.length]!, CALL, input)));
      expect(tally(ended)).toEqual({ executed: 4, blocked: 12 });
    }
    expect(await wrongTotals(server)).toEqual([]);
  });

  test.each(['one agent', 'four agents of a team'])('%s: past it a person is asked', async (who) => {
    const clients = await callersUnder(who, calls(4, 'propose', 'total'));
    const ended = await Promise.all(Array.from({ length: 16 }, (_, i) => execute(clients[i % clients.length]!, CALL, {})));
    expect(tally(ended)).toEqual({ executed: 4, pending_hitl: 12 });
  });

  test('retries among them do not count twice, and what is rejected makes room', async () => {
    const clients = await callersUnder('one agent', calls(5, 'block', 'total'), 'propose');
    // 8 calls, each sent four times under its key.
    const ended = await Promise.all(Array.from({ length: 32 }, (_, i) => execute(clients[(i >> 1) % 2]!, CALL, {}, `key-${i % 8}`)));
    const distinct = [...new Map(ended.map((one) => [one.executionId, one])).values()];
    expect(tally(distinct)).toEqual({ pending_hitl: 5, blocked: 3 });
    const waiting = distinct.flatMap(({ hitlRequestId }) => hitlRequestId ?? []);
    const rejected = await Promise.all(waiting.slice(0, 2).map((id, i) =>
      asRoot(i % 2 ? server : replica).post(`/api/v1/hitl/${id}/reject`)));
    for (const reply of rejected) reply.expect(200);
    const more = await Promise.all(Array.from({ length: 6 }, (_, i) => execute(clients[i % 2]!, CALL, {})));
    expect(tally(more)).toEqual({ pending_hitl: 2, blocked: 4 });
    expect(await wrongTotals(server)).toEqual([]);
  });

  async function callersUnder(who: string, limit: object, hitlMode = 'auto'): Promise<Client[]> {
    if (who === 'one agent') return both(await anAgent(server).granted(CALL, { hitlMode, limits: [limit] }).create());
    const teamId = await aTeam(server, await firstOrganization(server));
    await share(teamId, { hitlMode, limits: [limit] });
    return (await teamMates(server, teamId, 4)).flatMap(both);
  }
});
