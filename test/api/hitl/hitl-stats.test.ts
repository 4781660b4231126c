import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
let agent: BuiltAgent;

beforeAll(async () => {
  server = await startServer();
  agent = await anAgent(server).granted('email.send', { hitlMode: 'propose' }).granted('web.post', { hitlMode: 'propose' }).create();
});
afterAll(() => server.stop());

const ask = async (capability: string): Promise<string> =>
  (await agent.client.post('/api/v1/execute', { capability, input: {} })).expect(202).text('hitlRequestId');
const stats = async (query: Record<string, string> = {}) => (await asRoot(server).get('/api/v1/hitl/stats', { query })).expect(200);

/** As if it had been asked so many seconds before it was decided. */
const took = (id: string, seconds: number) =>
  server.sql(`update hitl_requests set created_at = decided_at - make_interval(secs => $2) where id = $1`, [id, seconds]);

describe('statistics', () => {
  test('of nothing have no rate and no times', async () => {
    const { body } = await stats();
    expect(body).toEqual({
      total: 0,
      byStatus: { pending: 0, escalated: 0, approved: 0, rejected: 0, timed_out: 0, cancelled: 0 },
      approved: 0, rejected: 0, approvalRate: null, averageDecisionSeconds: null, p50DecisionSeconds: null, p95DecisionSeconds: null,
      byCapability: [], byReviewer: [],
    });
  });

  test("count people's decisions alone, by capability and reviewer", async () => {
    for (const seconds of [10, 20, 30]) {
      const id = await ask('email.send');
      (await asRoot(server).post(`/api/v1/hitl/${id}/approve`)).expect(200);
      await took(id, seconds);
    }
    const rejected = await ask('web.post');
    (await asRoot(server).post(`/api/v1/hitl/${rejected}/reject`)).expect(200);
    await took(rejected, 100);
    (await agent.client.post(`/api/v1/hitl/${await ask('web.post')}/cancel`)).expect(200);
    (await asRoot(server).post(`/api/v1/hitl/${await ask('web.post')}/timeout`)).expect(200);
    await ask('email.send');

    const seen = await stats();
    expect(seen.at('byStatus')).toEqual({ pending: 1, escalated: 0, approved: 3, rejected: 1, timed_out: 1, cancelled: 1 });
    expect(seen.body).toMatchObject({
      total: 7, approved: 3, rejected: 1, approvalRate: 0.75, averageDecisionSeconds: 40, p50DecisionSeconds: 25, p95DecisionSeconds: 89.5,
    });
    expect(seen.at('byCapability')).toEqual([
      {
        capability: 'email.send', total: 4, approved: 3, rejected: 0, approvalRate: 1, averageDecisionSeconds: 20, p50DecisionSeconds: 20,
        p95DecisionSeconds: 29,
      },
      {
        capability: 'web.post', total: 3, approved: 0, rejected: 1, approvalRate: 0, averageDecisionSeconds: 100, p50DecisionSeconds: 100,
        p95DecisionSeconds: 100,
      },
    ]);
    expect(seen.at('byReviewer')).toMatchObject([{ reviewerId: 'root', approved: 3, rejected: 1, approvalRate: 0.75 }]);
  });

  test('can be of one capability, one agent, one time', async () => {
    expect((await stats({ capability: 'web.post' })).number('total')).toBe(3);
    expect((await stats({ agentId: agent.id })).number('total')).toBe(7);
    expect((await stats({ agentId: 'agt_00000000000000000000000000absent0000' })).number('total')).toBe(0);
    expect((await stats({ from: '2031-01-01' })).number('total')).toBe(0);
    expect((await stats({ to: '2031-01-01' })).number('total')).toBe(7);
    (await asRoot(server).get('/api/v1/hitl/stats', { query: { from: 'yesterday' } })).expect(400, 'VALIDATION_FAILED');
  });

  test('are not for agents', async () => {
    (await agent.client.get('/api/v1/hitl/stats')).expect(403, 'FORBIDDEN');
  });
});
