import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { eventually } from '../support/running/eventually.js';
import { approve, rejection, sdkAsAgent, sdkAsRoot } from '../support/sdk/callers.js';
import { type Gateway, startGateway } from '../support/sdk/gateway.js';
import { back, startServer, type TestServer } from '../support/servers/server.js';

let server: TestServer;
let other: TestServer;
let gateway: Gateway;
beforeAll(async () => {
  server = await startServer();
  other = await startServer({ replicaOf: server });
});
afterAll(async () => {
  await other.stop();
  await server.stop();
});
let upstreams: string[];
beforeEach(async () => {
  upstreams = [server.url];
  gateway = await startGateway(() => upstreams);
});
afterEach(() => gateway.close());

const PROPOSE = { 'email.send': { hitlMode: 'propose' } };
const LONG = { waitForApproval: true, waitTimeoutMs: 120_000 };

test('the server is killed during a wait: it goes on, at another one, and what runs runs once', async () => {
  const { agent, sdk } = await sdkAsAgent(server, PROPOSE, { url: gateway.url });
  upstreams = [other.url];
  const ids: string[] = [];
  const waited = sdk.execute('email.send', { n: 1 }, { ...LONG, onPending: ({ hitlRequestId }) => ids.push(hitlRequestId) });
  await eventually(() => expect(gateway.count(/\/hitl\/hitl_/)).toBeGreaterThan(0));
  await other.kill();
  upstreams = [server.url];
  await approve(server, ids[0]!);
  expect(await waited).toMatchObject({ status: 'executed', hitlRequestId: ids[0] });
  await back(other);
  expect((await sdkAsRoot(server).executions.list({ agentId: agent.id })).total).toBe(1);
});

test('aborted: at once, and what is under way is named', async () => {
  const { sdk } = await sdkAsAgent(server, PROPOSE, { url: gateway.url });
  const ending = new AbortController();
  const onPending = () => void setTimeout(() => ending.abort(), 200);
  const error = await rejection(sdk.execute('email.send', {}, { ...LONG, signal: ending.signal, onPending }));
  const ids = { hitlId: expect.stringMatching(/^hitl_/), executionId: expect.stringMatching(/^exec_/), idempotencyKey: expect.any(String) };
  expect(error).toMatchObject({ code: 'ABORTED', ...ids });
});

test('a stop, and a removal of the agent, end a wait by their codes', async () => {
  const { agent, sdk } = await sdkAsAgent(server, PROPOSE, { url: gateway.url });
  const root = sdkAsRoot(server);
  const waited = rejection(sdk.execute('email.send', {}, { ...LONG, onPending: () => void root.agents.remove(agent.id) }));
  expect(await waited).toMatchObject({ code: expect.stringMatching(/^(HITL_CANCELLED|AGENT_INACTIVE)$/) });
  const { agent: stopped, sdk: its } = await sdkAsAgent(server, PROPOSE);
  const { stop } = await root.stops.create({ scope: 'agent', id: stopped.id, reason: 'odd' });
  expect(await rejection(its.execute('email.send'))).toMatchObject({ code: 'STOPPED' });
  await root.stops.lift(stop.id);
  expect(await its.execute('email.send')).toMatchObject({ status: 'pending_approval' });
});
