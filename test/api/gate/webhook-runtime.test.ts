import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { type Reply } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { defineCapability, executionOf } from '../../support/builders/gate.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { freePort } from '../../support/servers/server-process.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

let receiver: Receiver;
let names = 0;

beforeEach(async () => {
  receiver = await startReceiver();
});

afterEach(() => receiver.close());

/** An agent that holds, as auto, a capability of its own with this connector. */
async function holderOf(on: TestServer, connector: Readonly<Record<string,
  unknown>>): Promise<BuiltAgent & { capability: string }> {
  const capability = `crm.call-${++names}`;
  await defineCapability(on, capability,
    { connector: { type: 'http', method: 'POST', url: `${receiver.url}/hook`, ...connector } });
  return { ...(await anAgent(on).granted(capability).create()), capability };
}

const call = (agent: BuiltAgent & { capability: string }, input: unknown = {}): Promise<Reply> =>
  agent.client.post('/api/v1/execute', { capability: agent.capability, input });

describe('the webhook runtime', () => {
  let webhook: Receiver;
  let on: TestServer;

  const restart = async (env: Readonly<Record<string, string>>) =>
    startServer({ env: { RUNTIME_WEBHOOK_URL: `${webhook.url}/run`, WEBHOOK_SECRET: SECRET, ...env } });

  beforeAll(async () => {
    webhook = await startReceiver();
  });

  afterAll(() => webhook.close());

  const fresh = () => webhook.requests.length;

  describe('as the primary', () => {
    beforeAll(async () => {
      on = await restart({ RUNTIME_PRIMARY: 'webhook' });
    });

    afterAll(() => on.stop());

    test('gets every call, signed by Standard Webhooks, with the input as it stands', async () => {
      const before = fresh();
      const agent = await anAgent(on).granted('web.search').create();
      const body = { capability: 'web.search', action: 'look up', input: { b: 1, a: 'é' }, context: { task_id: 'mine' } };
      const reply = (await agent.client.post('/api/v1/execute', body)).expect(200);
      expect(reply.body).toMatchObject({ status: 'executed', output: { ok: true } });
      const seen = webhook.requests[before]!;
      const verified = new Webhook(SECRET).verify(seen.body, seen.headers as Record<string, string>);
      expect(verified).toMatchObject({
        executionId: reply.text('executionId'), agentId: agent.id, capability: 'web.search', action: 'look up',
          input: { b: 1, a: 'é' },
        context: { task_id: 'mine' },
      });
      expect(seen).toMatchObject({ method: 'POST', path: '/run' });
      expect(seen.headers).toMatchObject({ 'webhook-id': reply.text('executionId'),
        'idempotency-key': reply.text('executionId') });
      expect(await executionOf(on, reply.text('executionId'))).toMatchObject({ runtime: 'webhook' });
    });

    test('its signature covers the body', () => {
      const { body, headers } = webhook.requests.at(-1)!;
      expect(() => new Webhook(SECRET).verify(`${body} `, headers as Record<string, string>)).toThrow();
    });

    test('a refusal of the receiver is failed', async () => {
      webhook.script({ status: 422, body: { why: 'no' } });
      const agent = await anAgent(on).granted('web.search').create();
      const reply = await agent.client.post('/api/v1/execute', { capability: 'web.search' });
      expect(reply.body).toMatchObject({ status: 'failed', error: { code: 'WEBHOOK_STATUS' } });
    });
  });

  describe('as the fallback', () => {
    beforeAll(async () => {
      on = await restart({ RUNTIME_FALLBACK: 'true' });
    });

    afterAll(() => on.stop());

    test('serves when the primary refuses before it could have acted', async () => {
      const before = fresh();
      const agent = await holderOf(on, { url: `http://127.0.0.1:${await freePort()}/` });
      const reply = (await call(agent, { n: 1 })).expect(200);
      expect(reply.body).toMatchObject({ status: 'executed', output: { ok: true } });
      expect(fresh() - before).toBe(1);
      const { body, headers } = webhook.requests.at(-1)!;
      expect(new Webhook(SECRET).verify(body, headers as Record<string, string>)).toMatchObject({ input: { n: 1 } });
      expect(await executionOf(on, reply.text('executionId'))).toMatchObject({ status: 'executed', runtime: 'webhook' });
    });

    test.each([
      ['an error', { status: 500 }, 'failed'],
      ['a cut connection', { reset: true }, 'indeterminate'],
    ] as const)('never after %s: the primary may have acted', async (_name, answer, status) => {
      const before = fresh();
      receiver.standing(answer);
      const agent = await holderOf(on, {});
      const reply = (await call(agent)).expect(200);
      expect(await executionOf(on, reply.text('executionId'))).toMatchObject({ status, runtime: 'connector' });
      expect(fresh() - before).toBe(0);
    });

    test('a capability without a connector stays receipt-only', async () => {
      const before = fresh();
      const agent = await anAgent(on).granted('web.search').create();
      const reply = (await agent.client.post('/api/v1/execute', { capability: 'web.search' })).expect(200);
      expect(await executionOf(on, reply.text('executionId'))).toMatchObject({ status: 'executed', runtime: 'receipt' });
      expect(fresh() - before).toBe(0);
    });
  });
});
