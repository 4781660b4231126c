import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asRoot } from '../../support/http/actors.js';
import { auditOf } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import type { DatabaseProxy } from '../../support/servers/database-proxy.js';
import { eventually } from '../../support/running/eventually.js';
import { defineCapability, executionBecomes, executionOf, requestOf } from '../../support/builders/gate.js';
import { pause } from '../../support/proofs/races.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { twoServers, type TwoServers } from '../../support/servers/two-servers.js';
import type { TestServer } from '../../support/servers/server.js';

// One server has claimed what was approved and is frozen; another takes over. When the first goes on, it does nothing twice.

let servers: TwoServers;
let busy: TestServer;
let other: TestServer;
let line: DatabaseProxy;
let receiver: Receiver;

beforeAll(async () => {
  [servers, receiver] = await Promise.all([twoServers(), startReceiver()]);
  ({ busy, other, line } = servers);
  for (const [name, more] of [['crm.push', {}], ['crm.sync', { idempotent: true }]] as const) {
    const connector = { type: 'http', method: 'POST', url: receiver.url, body: '{input}', timeoutSeconds: 1, ...more };
    await defineCapability(other, name, { connector });
  }
});

afterAll(async () => {
  await servers.close();
  await receiver.close();
});

interface Asked {
  readonly agent: BuiltAgent;
  readonly id: string;
  readonly execution: string;
}

async function asked(capability: string): Promise<Asked> {
  const agent = await anAgent(busy).granted(capability, { hitlMode: 'propose' }).create();
  const reply = (await agent.client.post('/api/v1/execute', { capability, input: { n: 1 } })).expect(202);
  return { agent, id: reply.text('hitlRequestId'), execution: reply.text('executionId') };
}

/** Of the two only the busy server works meanwhile: what is approved there is claimed there. */
async function alone<T>(story: () => Promise<T>): Promise<T> {
  process.kill(other.pid, 'SIGSTOP');
  try {
    return await story();
  } finally {
    process.kill(other.pid, 'SIGCONT');
  }
}

/** The busy server is frozen for the time of the story, with what it has in hand; its claim is as good as over. */
async function frozen<T>(story: () => Promise<T>): Promise<T> {
  process.kill(busy.pid, 'SIGSTOP');
  try {
    await other.sql('update outbox set available_at = clock_timestamp()');
    return await story();
  } finally {
    process.kill(busy.pid, 'SIGCONT');
  }
}

const approveAtBusy = ({ id }: Asked) => asRoot(busy).post(`/api/v1/hitl/${id}/approve`, {}, { query: { wait: 0 } });

const executionEvents = async ({ agent }: Asked) =>
  (await auditOf(other, agent.id)).map(({ event }) => event).filter((event) => event.startsWith('execution.'));

const callsOf = ({ execution }: Asked): number =>
  receiver.requests.filter(({ headers }) => headers['idempotency-key'] === execution).length;

const outboxIsEmpty = () => eventually(async () =>
  expect(await other.sql(`select 1 from outbox where kind = 'execution.run'`)).toEqual([]));

test.each([
  ['with its claim', 'lock_barriers_and_heads_v1', 'write_out_v1'],
  ['about to begin, with the agent\'s head', 'fence = fence + 1', undefined],
])('frozen %s: the other begins it, and the first begins nothing when it goes on', async (_name, statement, after) => {
  const request = await asked('crm.push');
  const { held, release } = line.hold(statement, after);
  await alone(async () => {
    (await approveAtBusy(request)).expect(200);
    await held;
  });
  await frozen(async () => {
    await executionBecomes(other, request.execution, 'executed', 30_000);
  });
  release();
  await outboxIsEmpty();
  await pause(1_500);
  expect(callsOf(request)).toBe(1);
  expect(await executionEvents(request)).toEqual(['execution.started', 'execution.completed']);
});

test.each([
  ['crm.push', 'indeterminate', 0, ['execution.started', 'execution.failed', 'execution.reported']],
  ['crm.sync', 'executed', 1, ['execution.started', 'execution.retried', 'execution.completed', 'execution.reported']],
])('frozen after it began, past its deadline: %s is not called when the server goes on', async (capability, status, calls, events) => {
  const request = await asked(capability);
  const { held, release } = line.hold('COMMIT', 'execution.started');
  await alone(async () => {
    (await approveAtBusy(request)).expect(200);
    await held;
  });
  await frozen(async () => {
    release();
    await eventually(async () => expect(await executionOf(other, request.execution)).toMatchObject({ status: 'running' }));
    await pause(1_100);
    await other.sql(`update executions set lease_until = clock_timestamp() - interval '1 second' where status = 'running'`);
    await executionBecomes(other, request.execution, status, 30_000);
  });
  await eventually(async () => expect(await executionEvents(request)).toEqual(events));
  expect(callsOf(request)).toBe(calls);
  expect(await requestOf(other, request.id)).toMatchObject({ status: 'approved', execution: { status } });
  const late = (await auditOf(other, request.agent.id)).find(({ event }) => event === 'execution.reported');
  expect(late!.metadata).toMatchObject({ late: true, outcome: 'failure', error: { code: 'CONNECTOR_UNREACHABLE' } });
  await outboxIsEmpty();
});
