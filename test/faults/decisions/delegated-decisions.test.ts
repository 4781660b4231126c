import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { defineCapability } from '../../support/builders/gate.js';
import { EXECUTE } from '../../support/http/paths.js';
import { pause } from '../../support/proofs/races.js';
import type { DatabaseProxy } from '../../support/servers/database-proxy.js';
import type { TestServer } from '../../support/servers/server.js';
import { begunOn, isWaitingOn, tableHeld, twoServers, type TwoServers } from '../../support/servers/two-servers.js';

// A task's call is decided by what every agent of its chain may do. One server is at such a call, or at its approval, when another one
// takes away what an agent may do that is not the one that acts.

let servers: TwoServers;
let busy: TestServer;
let other: TestServer;
let root: Client;
let line: DatabaseProxy;
let names = 0;

beforeAll(async () => {
  servers = await twoServers();
  ({ busy, other, line } = servers);
  root = asRoot(other);
});
afterAll(() => servers.close());

interface GivenTask {
  readonly capability: string;
  readonly giver: BuiltAgent;
  /** Calls the busy server. */
  readonly doer: BuiltAgent;
  readonly id: string;
}

async function aTask(doersMode = 'auto'): Promise<GivenTask> {
  const capability = `delegated.raced${names++}`;
  await defineCapability(other, capability);
  const giver = await anAgent(other).granted(capability).create();
  const doer = await anAgent(busy).granted(capability, { hitlMode: doersMode }).create();
  const task = { capability, input: { n: 1 } };
  const given = await giver.client.post('/api/v1/routing/delegate', { task, toAgentId: doer.id });
  return { capability, giver, doer, id: given.expect(201).text('task.id') };
}

const call = ({ capability, doer, id }: GivenTask) =>
  doer.client.post<{ status: unknown; code?: unknown }>(EXECUTE, { capability, input: { n: 1 }, context: { task_id: id } });

type Withdraw = (task: GivenTask) => Promise<Reply>;
const grantOf = ({ capability, giver }: GivenTask) => `/api/v1/agents/${giver.id}/capabilities/${capability}`;
const configure = (hitlMode: string): Withdraw => (task) => root.patch(grantOf(task), { hitlMode });

const WITHDRAWALS: [string, Withdraw, number, string][] = [
  ['its grant is revoked', async ({ capability, giver }) => {
    const query = { agentId: giver.id, capability };
    const id = (await root.get('/api/v1/capabilities/grants', { query })).expect(200).text('grants.0.id');
    return root.delete(`/api/v1/capabilities/grant/${id}`);
  }, 403, 'CAPABILITY_NOT_GRANTED'],
  ['it is deactivated', ({ giver }) => root.post(`/api/v1/agents/${giver.id}/deactivate`), 403, 'AGENT_INACTIVE'],
  ['its grant blocks now', configure('block'), 200, 'blocked'],
  ['its grant asks a person now', configure('propose'), 202, 'pending_hitl'],
];

/** The answer comes only once it is let. */
async function answeredLater(answer: Promise<Reply>, release: () => unknown): Promise<void> {
  expect(await Promise.race([answer.then(({ status }) => `answered ${status}`), pause(400).then(() => 'later')])).toBe('later');
  await release();
  expect((await answer).status).toBeLessThan(300);
}

test.each(WITHDRAWALS)('%s when the call was decided, and not committed: it is decided again', async (_name, withdraw, status, word) => {
  const task = await aTask();
  const before = await begunOn(other);
  const { held, release } = line.hold('gate-commit-');
  const called = call(task);
  await held;
  expect((await withdraw(task).finally(release)).status).toBeLessThan(300);
  const reply = await called;
  expect([reply.status, reply.body.code ?? reply.body.status]).toEqual([status, word]);
  expect(await begunOn(other)).toEqual(before);
});

test.each(WITHDRAWALS)('%s when the call is just committing: the answer waits for it', async (_name, withdraw) => {
  const task = await aTask();
  // Whoever commits an execution waits here, past its comparison and with its locks.
  const inTheWay = await tableHeld(other, 'executions', 'share');
  const called = call(task);
  await isWaitingOn(other, 'gate_commit');
  await answeredLater(withdraw(task), () => inTheWay.release());
  const atTheAnswer = await begunOn(other);
  expect((await called).expect(200).at('status')).toBe('executed');
  expect(await begunOn(other)).toEqual(atTheAnswer);
});

test.each(WITHDRAWALS)('%s while the approval is under way: the answer waits for it', async (_name, withdraw) => {
  const task = await aTask('propose');
  const requestId = (await call(task)).expect(202).text('hitlRequestId');
  const { held, release } = line.hold('write_out_v1');
  const approved = asRoot(busy).post(`/api/v1/hitl/${requestId}/approve`, {}, { query: { wait: 0 } });
  await held;
  try {
    await answeredLater(withdraw(task), release);
  } finally {
    release();
  }
  const atTheAnswer = await begunOn(other);
  (await approved).expect(200);
  await pause(300);
  expect(await begunOn(other)).toEqual(atTheAnswer);
});
