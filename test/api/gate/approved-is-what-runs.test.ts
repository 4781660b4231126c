import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { auditOf } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { aPerson } from '../../support/builders/people.js';
import { defineCapability, executionBecomes, executionOf, pauseOutbox, requestOf, resumeOutbox } from '../../support/builders/gate.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { jcs } from '../../../src/domain/audit/entry/jcs.js';
import { actionDigest } from '../../../src/domain/hitl/digest.js';
import type { JsonObject } from '../../../src/domain/json.js';

// Somebody changes what is stored, or what the approval rested on, after a person has approved and before the action begins.

let server: TestServer;
let root: Client;
let receiver: Receiver;
let names = 0;

beforeAll(async () => {
  [server, receiver] = await Promise.all([startServer(), startReceiver()]);
  root = asRoot(server);
});

afterAll(async () => {
  await server.stop();
  await receiver.close();
});

interface Asked {
  readonly agent: BuiltAgent;
  readonly capability: string;
  readonly id: string;
  readonly execution: string;
}

const connector = () => ({ type: 'http', method: 'POST', url: receiver.url, body: '{input}' });

async function asked(limits: object[] = []): Promise<Asked> {
  const capability = `crm.push-${++names}`;
  await defineCapability(server, capability, { connector: connector() });
  const agent = await anAgent(server).granted(capability, { hitlMode: 'propose', limits }).create();
  const body = { capability, action: 'push', input: { amount: 5 }, context: { ticket: 7 } };
  const reply = (await agent.client.post('/api/v1/execute', body)).expect(202);
  return { agent, capability, id: reply.text('hitlRequestId'), execution: reply.text('executionId') };
}

const grantPath = ({ agent, capability }: Asked): string => `/api/v1/agents/${agent.id}/capabilities/${capability}`;

/** Approved, then changed; then the worker has its turn. */
async function approvedThen(request: Asked, change: (request: Asked) => Promise<unknown>): Promise<void> {
  await pauseOutbox(server);
  try {
    const reply = await root.post(`/api/v1/hitl/${request.id}/approve`, {}, { query: { wait: 0 } });
    expect(reply.expect(200).at('request')).toMatchObject({ status: 'approved', execution: { status: 'pending_hitl' } });
    await change(request);
  } finally {
    await resumeOutbox(server);
  }
}

async function nothingRuns(request: Asked, calls: number, reason: string): Promise<void> {
  const execution = await executionBecomes(server, request.execution, 'cancelled');
  expect(execution).toMatchObject({ status: 'cancelled', reason });
  expect(await requestOf(server, request.id)).toMatchObject({ status: 'approved', decided_by: 'root' });
  const entries = (await auditOf(server, request.agent.id)).filter(({ event }) => event.startsWith('execution.'));
  expect(entries).toEqual([expect.objectContaining({
    id: execution.auditId, event: 'execution.cancelled', actorId: 'system',
    metadata: expect.objectContaining({ executionId: request.execution, hitlId: request.id, reason }),
  })]);
  expect(receiver.requests).toHaveLength(calls);
}

const setRequest = (column: string, value: string) => ({ id }: Asked) =>
  server.sql(`update hitl_requests set ${column} = $2 where id = $1`, [id, value]);
const setExecution = (column: string, value: string) => ({ execution }: Asked) =>
  server.sql(`update executions set ${column} = $2 where id = $1`, [execution, value]);

interface Stored {
  agent_id: string; capability: string; definition: string; id: string; input: string; nonce: string; runs: 'service'; action: string;
}

/** Another input, with the digest that fits it: whoever can read the row can work that out. */
async function consistentEdit({ id }: Asked): Promise<void> {
  const [row] = await server.sql<Stored>('select * from hitl_requests where id = $1', [id]);
  const { agent_id: agentId, capability, definition, nonce, runs, action } = row!;
  const input: JsonObject = { amount: 5_000_000 };
  const digest = actionDigest({ agentId, capability, definition, hitlRequestId: id, input, nonce, runs, action });
  await server.sql('update hitl_requests set input = $2, digest = $3 where id = $1', [id, jcs(input), digest]);
}

describe('edited by SQL', () => {
  test.each<[string, string, (request: Asked) => Promise<unknown>]>([
    ['the input', 'digest_mismatch', setRequest('input', '{"amount":5000}')],
    ['the input, to the same in other bytes', 'digest_mismatch', setRequest('input', '{ "amount": 5 }')],
    ['the input, with the digest that fits it', 'approval_mismatch', consistentEdit],
    ['the context', 'approval_mismatch', setRequest('context', '{"ticket":8}')],
    ['the action', 'approval_mismatch', setRequest('action', 'delete')],
    ['the action of request and execution', 'digest_mismatch', async (request) => {
      await setRequest('action', 'delete')(request);
      await setExecution('action', 'delete')(request);
    }],
    ['the capability', 'approval_mismatch', setRequest('capability', 'web.search')],
    ['the nonce', 'digest_mismatch', setRequest('nonce', 'AAAAAAAAAAAAAAAAAAAAAA')],
    ['the digest', 'approval_mismatch', setRequest('digest', createHash('sha256').update('x').digest('hex'))],
    ['the digest of the definition', 'digest_mismatch', setRequest('definition', '0'.repeat(64))],
    ['who runs it', 'digest_mismatch', setRequest('runs', 'caller')],
    ['the entry of its decision', 'approval_mismatch', setRequest('decision_entry_id', 'audit_none')],
    ['the agent', 'approval_mismatch', async ({ id }) => {
      const other = await anAgent(server).create();
      await server.sql('update hitl_requests set agent_id = $2 where id = $1', [id, other.id]);
    }],
    ['the execution\'s action', 'approval_mismatch', setExecution('action', 'delete')],
    ['the execution\'s context', 'approval_mismatch', setExecution('context', '{"ticket":8}')],
    ['the connector', 'definition_changed', ({ capability }) => server.sql(
      `update capability_definitions set connector = jsonb_set(connector::jsonb, '{url}', to_jsonb($2::text))::json where name = $1`,
      [capability, `${receiver.url}/elsewhere`])],
  ])('%s: nothing runs, and the log says why', async (_what, reason, edit) => {
    const request = await asked();
    const calls = receiver.requests.length;
    await approvedThen(request, edit);
    await nothingRuns(request, calls, reason);
  });

  // The API shows a request only beside its execution, and entries bear the name that the execution has.
  test.each([
    ['the execution that it is for', setRequest('execution_id', 'exec_00000000000000000000000000')],
    ['the execution\'s capability', setExecution('capability', 'web.search')],
  ])('%s: nothing runs', async (_what, edit) => {
    const request = await asked();
    const calls = receiver.requests.length;
    await approvedThen(request, edit);
    expect(await executionBecomes(server, request.execution, 'cancelled')).toMatchObject({ reason: 'approval_mismatch' });
    expect(receiver.requests).toHaveLength(calls);
  });

  test('the execution points to another request, which was approved: an approval is for its own execution', async () => {
    const [one, two] = [await asked(), await asked()];
    const calls = receiver.requests.length;
    await approvedThen(one, async () => {
      await server.sql('update executions set hitl_request_id = $2 where id = $1', [two.execution, one.id]);
      await server.sql(`insert into outbox (organization_id, kind, payload)
        select organization_id, 'execution.run', json_build_object(
          'agentId', agent_id, 'executionId', id, 'hitlRequestId', hitl_request_id, 'capability', capability)
        from executions where id = $1`, [two.execution]);
    });
    expect(await executionBecomes(server, one.execution, 'executed')).toMatchObject({ status: 'executed' });
    expect(await executionBecomes(server, two.execution, 'cancelled')).toMatchObject({ reason: 'approval_mismatch' });
    expect(receiver.requests.slice(calls).map(({ headers }) => headers['idempotency-key'])).toEqual([one.execution]);
  });

  test('the outbox is made to say it again: it has run, and does not run again', async () => {
    const request = await asked();
    const calls = receiver.requests.length;
    (await root.post(`/api/v1/hitl/${request.id}/approve`)).expect(200);
    await executionBecomes(server, request.execution, 'executed');
    for (let again = 0; again < 3; again++) {
      await server.sql(`insert into outbox (organization_id, kind, payload)
        select organization_id, 'execution.run', json_build_object(
          'agentId', agent_id, 'executionId', id, 'hitlRequestId', hitl_request_id, 'capability', capability)
        from executions where id = $1`, [request.execution]);
    }
    const waiting = async (): Promise<number> => (await server.sql(`select 1 from outbox where kind = 'execution.run'`)).length;
    for (let left = await waiting(); left > 0; left = await waiting()) await new Promise((resolve) => setTimeout(resolve, 100));
    expect(receiver.requests).toHaveLength(calls + 1);
    expect(await executionOf(server, request.execution)).toMatchObject({ status: 'executed' });
  });
});

const stop = async ({ agent }: Asked) =>
  (await root.post('/api/v1/stops', { scope: 'agent', id: agent.id, reason: 'a test' })).expect(201).text('stop.id');
const lower = async (request: Asked) => {
  const limits = [{ max: 1, per: 'total', sum: 'input.amount', then: 'block' }];
  return (await root.patch(grantPath(request), { limits })).expect(200);
};
const tighten = async (request: Asked) =>
  (await root.patch(grantPath(request), { conditions: [{ when: 'input.amount > 1', hitlMode: 'block' }] })).expect(200);
const tightenOnContext = async (request: Asked) =>
  (await root.patch(grantPath(request), { conditions: [{ when: 'context.ticket == 7', hitlMode: 'block' }] })).expect(200);
const remove = async ({ agent }: Asked) => (await root.delete(`/api/v1/agents/${agent.id}`)).expect(204);
const deactivate = async ({ agent }: Asked) => (await root.post(`/api/v1/agents/${agent.id}/deactivate`)).expect(200);
const revoke = async ({ agent }: Asked) => {
  const [grant] = (await root.get(`/api/v1/agents/${agent.id}/capabilities`)).list('grants') as { id: string }[];
  return (await root.delete(`/api/v1/capabilities/grant/${grant!.id}`)).expect(204);
};
const expire = async (request: Asked) => {
  (await root.patch(grantPath(request), { expires_at: new Date(Date.now() + 50).toISOString() })).expect(200);
  await new Promise((resolve) => setTimeout(resolve, 100));
};

describe('withdrawn between approval and run: nothing runs, and the log says why', () => {
  test.each<[string, string, (request: Asked) => Promise<unknown>]>([
    ['the grant', 'capability_not_granted', revoke],
    ['the time of the grant', 'capability_not_granted', expire],
    ['the agent\'s activity', 'agent_inactive', deactivate],
    ['the agent', 'agent_removed', remove],
    ['room in a limit', 'blocked', lower],
    ['room in a condition', 'blocked', tighten],
    ['room in a condition over the context', 'blocked', tightenOnContext],
    ['freedom, by a stop', 'stopped', stop],
    ['freedom, by a stop that was lifted', 'stopped', async (request) => root.delete(`/api/v1/stops/${await stop(request)}`)],
  ])('%s', async (_what, reason, withdraw) => {
    const request = await asked();
    const calls = receiver.requests.length;
    await approvedThen(request, withdraw);
    await nothingRuns(request, calls, reason);
  });
});

describe('withdrawn while pending: 409 NOT_EXECUTABLE, and nothing runs', () => {
  test.each<[string, (request: Asked) => Promise<unknown>]>([
    ['room in a limit', lower], ['room in a condition over the context', tightenOnContext], ['the time of the grant', expire],
  ])('%s', async (_what, withdraw) => {
    const request = await asked();
    const calls = receiver.requests.length;
    await withdraw(request);
    (await root.post(`/api/v1/hitl/${request.id}/approve`)).expect(409, 'NOT_EXECUTABLE');
    expect(await requestOf(server, request.id)).toMatchObject({ status: 'cancelled', decided_by: 'system' });
    expect(receiver.requests).toHaveLength(calls);
  });

  test('by a stop: 403 while it holds; lifted, the request goes on, since whoever approves now knows', async () => {
    const request = await asked();
    const made = await stop(request);
    (await root.post(`/api/v1/hitl/${request.id}/approve`)).expect(403, 'STOPPED');
    (await root.delete(`/api/v1/stops/${made}`)).expect(204);
    const admin = await aPerson(server, 'admin');
    const reply = (await admin.client.post(`/api/v1/hitl/${request.id}/approve`)).expect(200);
    expect(reply.at('request.execution')).toMatchObject({ status: 'executed' });
  });
});
