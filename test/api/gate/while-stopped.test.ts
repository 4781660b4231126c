import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { eventsOf } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { defineCapability, executionBecomes, executionOf, pauseOutbox, requestOf, resumeOutbox } from '../../support/builders/gate.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { EXECUTE } from '../../support/http/paths.js';

const STOPS = '/api/v1/stops';

let server: TestServer;
let root: Client;
let receiver: Receiver;

beforeAll(async () => {
  [server, receiver] = await Promise.all([startServer(), startReceiver()]);
  root = asRoot(server);
  await defineCapability(server, 'crm.push', { connector: { type: 'http', method: 'POST', url: receiver.url, body: '{input}' } });
});

afterAll(async () => {
  await server.stop();
  await receiver.close();
});

const PROPOSE = { hitlMode: 'propose' };
const anAgentHere = () =>
  anAgent(server).granted('web.search').granted('email.send', PROPOSE).granted('crm.push', PROPOSE).create();
const stop = (by: Client, scope: string, id?: string, reason = 'it pays twice') => by.post(STOPS, { scope, id, reason });
const lift = (by: Client, id: string) => by.delete(`${STOPS}/${id}`);

async function stopped(by: Client, scope: string, id?: string): Promise<string> {
  return (await stop(by, scope, id)).expect(201).text('stop.id');
}

async function asked(agent: BuiltAgent, capability = 'email.send'): Promise<{ id: string; execution: string }> {
  const reply = (await agent.client.post(EXECUTE, { capability, input: { n: 1 } })).expect(202);
  return { id: reply.text('hitlRequestId'), execution: reply.text('executionId') };
}

const search = (agent: BuiltAgent) => agent.client.post(EXECUTE, { capability: 'web.search' });

/** Everything that one test stops, another one would find stopped. */
async function during<T>(id: string, story: () => Promise<T>): Promise<T> {
  try {
    return await story();
  } finally {
    (await lift(root, id)).expect(204);
  }
}

describe('while stopped', () => {
  test.each(['agent', 'organization', 'all'])('by %s: gate, request, approve, reject and timeout are 403 and change nothing; cancel works',
    async (scope) => {
      const agent = await anAgentHere();
      const [first, second, third] = [await asked(agent), await asked(agent), await asked(agent)];
      const id = await stopped(root, scope, scope === 'agent' ? agent.id : undefined);
      await during(id, async () => {
        const before = await Promise.all([first, second].map((one) => requestOf(server, one.id)));
        const refused = [
          await search(agent), await agent.client.post(EXECUTE, { capability: 'email.send' }),
          await agent.client.post('/api/v1/hitl', { capability: 'email.send' }),
          await root.post(EXECUTE, { capability: 'web.search', agentId: agent.id }),
          ...(await Promise.all(['approve', 'reject', 'timeout'].map((word) => root.post(`/api/v1/hitl/${first.id}/${word}`)))),
        ];
        for (const reply of refused) expect(reply.expect(403, 'STOPPED').text('detail')).toContain(id);
        const dry = (await agent.client.post(EXECUTE, { capability: 'web.search', dryRun: true })).expect(200);
        expect(dry.body).toMatchObject({ status: 'dry_run', decision: 'STOPPED', reasons: [{ rule: 'stop' }] });
        (await root.post('/api/v1/hitl/check-timeouts')).expect(200);
        expect(await Promise.all([first, second].map((one) => requestOf(server, one.id)))).toEqual(before);
        (await agent.client.post(`/api/v1/hitl/${second.id}/cancel`)).expect(200);
        (await agent.client.post(`/api/v1/executions/${third.execution}/cancel`)).expect(200);
        expect(await executionOf(server, second.execution)).toMatchObject({ status: 'cancelled' });
        const events = (await eventsOf(server, agent.id)).filter((event) => /^(execution|hitl)/.test(event));
        expect(events).toEqual([
          ...Array.from({ length: 3 }, () => 'hitl.created'), ...Array.from({ length: 4 }, () => 'execution.blocked'),
          'hitl.cancelled', 'hitl.cancelled',
        ]);
      });
      expect((await root.post(`/api/v1/hitl/${first.id}/approve`)).expect(200).at('request')).toMatchObject({ status: 'approved' });
    });

  test('what was decided before says so, and not that there is a stop', async () => {
    const agent = await anAgentHere();
    const request = await asked(agent);
    (await root.post(`/api/v1/hitl/${request.id}/reject`)).expect(200);
    await during(await stopped(root, 'agent', agent.id), async () => {
      for (const word of ['approve', 'reject', 'timeout', 'cancel']) {
        (await root.post(`/api/v1/hitl/${request.id}/${word}`)).expect(409, 'HITL_ALREADY_DECIDED');
      }
    });
  });

  test.each([['in force', false], ['lifted again', true]])('approved before it and not begun: cancelled, with the stop %s',
    async (_name, isLifted) => {
      const agent = await anAgentHere();
      const request = await asked(agent, 'crm.push');
      const before = receiver.requests.length;
      await pauseOutbox(server);
      let id: string;
      try {
        (await root.post(`/api/v1/hitl/${request.id}/approve`, {}, { query: { wait: 0 } })).expect(200);
        id = await stopped(root, 'agent', agent.id);
        if (isLifted) (await lift(root, id)).expect(204);
      } finally {
        await resumeOutbox(server);
      }
      expect(await executionBecomes(server, request.execution, 'cancelled')).toMatchObject({ reason: 'stopped' });
      expect(await requestOf(server, request.id)).toMatchObject({ status: 'approved', execution: { status: 'cancelled' } });
      expect((await eventsOf(server, agent.id)).filter((event) => event.startsWith('execution.'))).toEqual(['execution.cancelled']);
      expect(receiver.requests).toHaveLength(before);
      if (!isLifted) (await lift(root, id)).expect(204);
    });

  test('approved after a stop was lifted: it runs', async () => {
    const agent = await anAgentHere();
    const request = await asked(agent, 'crm.push');
    (await lift(root, await stopped(root, 'agent', agent.id))).expect(204);
    const approved = (await root.post(`/api/v1/hitl/${request.id}/approve`)).expect(200);
    expect(approved.at('request.execution')).toMatchObject({ status: 'executed' });
  });

  test('removed while stopped: its open requests are cancelled, and its stop can still be lifted', async () => {
    const agent = await anAgentHere();
    const request = await asked(agent);
    await during(await stopped(root, 'agent', agent.id), async () => {
      (await root.delete(`/api/v1/agents/${agent.id}`)).expect(204);
      expect(await requestOf(server, request.id)).toMatchObject({ status: 'cancelled', decided_by: 'system' });
    });
  });
});

