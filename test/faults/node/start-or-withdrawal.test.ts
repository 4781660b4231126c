import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { defineCapability, executionOf } from '../../support/builders/gate.js';
import { EXECUTE } from '../../support/http/paths.js';
import { type Receiver, startReceiver } from '../../support/http/receiver.js';
import { heartbeat, leased, result, start } from '../../support/node/work.js';
import { type DatabaseProxy, proxyTo } from '../../support/servers/database-proxy.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { isWaitingOn } from '../../support/servers/two-servers.js';

// A node starts its work at the moment at which a fallback would take it over. Of the two one comes first, and the other changes nothing.

let webhook: Receiver;
let one: TestServer;
/** What it asks of the database can be held. */
let held: TestServer;
let line: DatabaseProxy;
let names = 0;

beforeAll(async () => {
  webhook = await startReceiver();
  const env = {
    RUNTIME_PRIMARY: 'node', RUNTIME_FALLBACK: 'webhook', RUNTIME_WEBHOOK_URL: webhook.url,
    WEBHOOK_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  };
  one = await startServer({ env });
  line = await proxyTo(one.database.url);
  held = await startServer({ replicaOf: one, env: { ...env, DATABASE_URL: line.url } });
});
afterAll(async () => {
  await held.stop();
  await one.stop();
  await line.close();
  await webhook.close();
});

let agent: BuiltAgent;
let capability: string;
let before: number;
beforeEach(async () => {
  before = webhook.requests.length;
  capability = `press.cut-${names++}`;
  await defineCapability(one, capability, { connector: { type: 'node', timeoutSeconds: 6 } });
  agent = await anAgent(one).granted(capability).create();
});

/** What counts against limits starts in a unit of work, not in a batch. */
const LIMITED = { limits: [{ max: 1_000, per: 'day', then: 'block' }] };

const at = (server: TestServer): Client => asRoot(server).with({ authorization: `Bearer ${agent.token}` });

test('started between a server\'s last look and its withdrawal: it stays the node\'s', async () => {
  const node = at(one);
  (await heartbeat(node)).expect(200);
  const withdrawal = line.hold('node-withdraw-');
  const answer = at(held).post(EXECUTE, { capability });
  const work = await leased(node);
  await withdrawal.held;
  (await start(node, work).finally(withdrawal.release)).expect(200);
  (await result(node, work)).expect(200);
  expect((await answer).expect(200).at('status')).toBe('executed');
  expect(await executionOf(one, work.id)).toMatchObject({ runtime: 'node', output: { done: true } });
  expect(webhook.requests).toHaveLength(before);
});

test('withdrawn while a unit of work starts it: the withdrawal waits, and changes nothing', async () => {
  agent = await anAgent(one).granted(capability, LIMITED).create();
  (await heartbeat(at(one))).expect(200);
  const answer = at(one).post(EXECUTE, { capability });
  const work = await leased(at(one));
  const starting = line.hold(`set status = 'started'`);
  const started = start(at(held), work);
  await starting.held;
  await isWaitingOn(one, `set status = 'withdrawn'`).finally(starting.release);
  (await started).expect(200);
  (await result(at(one), work)).expect(200);
  expect((await answer).expect(200).at('status')).toBe('executed');
  expect(webhook.requests).toHaveLength(before);
});

test.each([['a batch', {}, 'node-start-'], ['a unit of work', LIMITED, 'node_work w where w.organization_id']])(
  'withdrawn before %s starts it: it is the fallback\'s, and nothing is handed out', async (_, terms, statement) => {
    agent = await anAgent(one).granted(capability, terms).create();
    (await heartbeat(at(one))).expect(200);
    const starting = line.hold(statement);
    const answer = at(one).post(EXECUTE, { capability });
    const work = await leased(at(one));
    const started = start(at(held), work);
    await starting.held;
    expect((await answer.finally(starting.release)).expect(200).at('status')).toBe('executed');
    // Held for longer than a unit of work may take, it may be ended for that: then only the next answer tells.
    expect([409, 503]).toContain((await started).status);
    (await start(at(one), work)).expect(409, 'CONFLICT');
    expect(webhook.requests).toHaveLength(before + 1);
  });

test('a token that ends before its batch takes the result: the result is refused, and taken with another token', async () => {
  (await heartbeat(at(one))).expect(200);
  const answer = at(one).post(EXECUTE, { capability });
  const work = await leased(at(one));
  (await start(at(one), work)).expect(200);
  const taking = line.hold('node-answer-');
  const refused = result(at(held), work);
  await taking.held;
  (await asRoot(one).delete(`/api/v1/agents/${agent.id}/tokens`).finally(taking.release)).expect(204);
  (await refused).expect(401, 'UNAUTHENTICATED');
  const token = (await asRoot(one).post(`/api/v1/agents/${agent.id}/token`)).expect(200).text('token');
  (await result(asRoot(held).with({ authorization: `Bearer ${token}` }), work)).expect(200);
  await answer.catch(() => undefined);
  expect(await executionOf(one, work.id)).toMatchObject({ status: 'executed', output: { done: true } });
});
