import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asRoot } from '../../support/http/actors.js';
import { auditOf } from '../../support/log/entries.js';
import { anAgent } from '../../support/builders/agents.js';
import { defineCapability, requestOf } from '../../support/builders/gate.js';
import { pause } from '../../support/proofs/races.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { twoServers, type TwoServers } from '../../support/servers/two-servers.js';

const WINDOW_MS = 1_500;

let servers: TwoServers;
let receiver: Receiver;

beforeAll(async () => {
  [servers, receiver] = await Promise.all([twoServers(), startReceiver()]);
  await defineCapability(servers.other, 'late.push', { connector: { type: 'http', method: 'POST', url: receiver.url, body: '{input}' } });
});
afterAll(async () => {
  await servers.close();
  await receiver.close();
});

test.each([
  ['approve', {}], ['reject', {}], ['escalate', { reason: 'too large for me' }],
])('%s whose window closes between reading and writing does not count', async (verb, body) => {
  const { busy, other, line } = servers;
  // The sweep of the other server may end it meanwhile, when its time is over: it has as long as this takes.
  const agent = await anAgent(busy).granted('late.push', { hitlMode: 'propose', hitlTimeoutSeconds: 600 }).create();
  const call = (await agent.client.post('/api/v1/execute', { capability: 'late.push', input: { n: 1 } })).expect(202);
  const id = call.text('hitlRequestId');
  await other.sql(
    `update hitl_requests set expires_at = clock_timestamp() + make_interval(secs => $2) where id = $1`, [id, WINDOW_MS / 1_000]);
  // Of this request: the sweep of the busy server moves those of the tests before with the same statement.
  const { held, release } = line.hold('update hitl_requests q set status', id);
  const decision = asRoot(busy).post(`/api/v1/hitl/${id}/${verb}`, body);
  await held;
  await pause(WINDOW_MS + 200);
  release();
  (await decision).expect(409, 'HITL_EXPIRED');
  const recorded = (await auditOf(other, agent.id)).map(({ event }) => event);
  expect(recorded).not.toContain(`hitl.${verb === 'approve' ? 'approved' : verb === 'reject' ? 'rejected' : 'escalated'}`);
  expect((await requestOf(other, id)).status).not.toBe('approved');
  expect(receiver.requests).toEqual([]);
});
