import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { defineCapability, executionOf, pauseOutbox, requestOf, resumeOutbox } from '../../support/builders/gate.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { auditOf } from '../../support/log/entries.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const EXECUTE = '/api/v1/execute';
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

let receiver: Receiver;
let server: TestServer;
let root: Client;

beforeAll(async () => {
  receiver = await startReceiver();
});

afterAll(() => receiver.close());

/** Two capabilities: `crm.push` has a connector, `crm.plan` has none. */
async function serverWith(env: Readonly<Record<string, string>>): Promise<void> {
  server = await startServer({ env: { OUTBOUND_ALLOW: receiver.destination, ...env } });
  root = asRoot(server);
  await defineCapability(server, 'crm.push', { connector: { type: 'http', method: 'POST', url: receiver.url, timeoutSeconds: 1 } });
  await defineCapability(server, 'crm.plan');
}

const holder = (capability: string, hitlMode: string, more: object = {}): Promise<BuiltAgent> =>
  anAgent(server).granted(capability, { hitlMode, ...more }).create();

describe.each([
  ['connectors alone', {}, { 'crm.push': 'service', 'crm.plan': 'caller' }],
  ['a webhook for every call', { RUNTIME_PRIMARY: 'webhook', RUNTIME_WEBHOOK_URL: 'set below', WEBHOOK_SECRET: SECRET },
    { 'crm.push': 'service', 'crm.plan': 'service' }],
])('who acts, with %s', (_, env, wanted) => {
  beforeAll(() => serverWith('RUNTIME_WEBHOOK_URL' in env ? { ...env, RUNTIME_WEBHOOK_URL: receiver.url } : env));
  afterAll(() => server.stop());

  const cases = Object.entries(wanted).flatMap(([capability, runs]) =>
    ['auto', 'notify', 'propose', 'escalate'].map((mode) => [capability, mode, runs] as const));

  test.each(cases)('%s in mode %s: %s, in answer, request, execution, entry and call', async (capability, mode, runs) => {
    const before = receiver.requests.length;
    const agent = await holder(capability, mode);
    expect((await agent.client.post(EXECUTE, { capability, dryRun: true })).body).toMatchObject({ status: 'dry_run', runs });
    const answer = await agent.client.post(EXECUTE, { capability });
    expect(answer.at('runs')).toBe(runs);
    const { hitlRequestId: asked } = answer.body as { hitlRequestId?: string };
    expect(asked !== undefined).toBe(mode === 'propose' || mode === 'escalate');
    if (asked !== undefined) {
      expect(await requestOf(server, asked)).toMatchObject({ runs });
      const body = { expectedDigest: (await requestOf(server, asked)).action_digest, note: 'read and agreed' };
      const approved = (await root.post(`/api/v1/hitl/${asked}/approve`, body, { query: { wait: 20 } })).expect(200);
      expect(approved.at('request.runs')).toBe(runs);
    }
    const execution = await executionOf(server, answer.text('executionId'), 20);
    expect(execution).toMatchObject({ status: 'executed', runs });
    const started = (await auditOf(server, agent.id)).find(({ event }) => event === 'execution.started');
    expect((started!.metadata as { runtime: string }).runtime === 'receipt').toBe(runs === 'caller');
    expect(receiver.requests.length - before).toBe(runs === 'service' ? 1 : 0);
  });

  test('an adapter that asks by itself acts by itself', async () => {
    const before = receiver.requests.length;
    const agent = await holder('crm.push', 'auto');
    const request = (await agent.client.post('/api/v1/hitl', { capability: 'crm.push' })).expect(201).at('request') as { id: string };
    expect(request).toMatchObject({ runs: 'caller' });
    (await root.post(`/api/v1/hitl/${request.id}/approve`, { note: 'read and agreed' })).expect(200);
    expect(receiver.requests.length).toBe(before);
  });

  test('nobody, where it is blocked', async () => {
    const agent = await holder('crm.push', 'block');
    const answer = (await agent.client.post(EXECUTE, { capability: 'crm.push' })).expect(200);
    expect(answer.body).toMatchObject({ status: 'blocked', reasons: [{ rule: 'grant_mode', detail: 'The grant says block.' }] });
    expect(answer.body).not.toHaveProperty('runs');
  });
});

describe('an approval of an action of the service', () => {
  test('is none of a licence: without its runtime the action is cancelled, and the agent is not let do it', async () => {
    await serverWith({ RUNTIME_PRIMARY: 'webhook', RUNTIME_WEBHOOK_URL: receiver.url, WEBHOOK_SECRET: SECRET });
    try {
      const agent = await holder('crm.plan', 'propose');
      const [open, approved] = await Promise.all([1, 2].map(async () =>
        (await agent.client.post(EXECUTE, { capability: 'crm.plan' })).expect(202).body as { executionId: string; hitlRequestId: string }));
      await pauseOutbox(server);
      (await root.post(`/api/v1/hitl/${approved!.hitlRequestId}/approve`, { note: 'read and agreed' }, { query: { wait: 0 } })).expect(200);
      await server.restart({ RUNTIME_PRIMARY: 'connector' });
      await resumeOutbox(server);
      expect(await executionOf(server, approved!.executionId, 20)).toMatchObject({ status: 'cancelled', reason: 'runtime_gone' });
      const late = (await root.post(`/api/v1/hitl/${open!.hitlRequestId}/approve`, { note: 'read and agreed' })).expect(409);
      expect(late.body).toMatchObject({ code: 'NOT_EXECUTABLE', detail: expect.stringMatching(/no runtime/) });
      expect(await executionOf(server, open!.executionId)).toMatchObject({ status: 'cancelled' });
    } finally {
      await server.stop();
    }
  });
});

describe('what the answer says', () => {
  beforeAll(() => serverWith({}));
  afterAll(() => server.stop());

  test('of an action that may have been done: so, and not to repeat it but under the same key', async () => {
    const agent = await holder('crm.push', 'auto');
    receiver.script({ reset: true });
    const call = () => agent.client.post(EXECUTE, { capability: 'crm.push' }, { headers: { 'Idempotency-Key': 'once-more' } });
    const detail = expect.stringMatching(/Do not repeat it, except with the same Idempotency-Key/);
    const said = { status: 'failed', indeterminate: true, detail };
    const first = (await call()).expect(200);
    expect(first.body).toMatchObject(said);
    const made = receiver.requests.length;
    expect((await call()).expect(200).body).toMatchObject({ ...said, executionId: first.text('executionId') });
    expect(receiver.requests.length).toBe(made);
    const well = (await agent.client.post(EXECUTE, { capability: 'crm.push' })).expect(200).body;
    expect(well).not.toHaveProperty('indeterminate');
  });

  test('while a person is asked: why, until when, and the same to whoever repeats the call', async () => {
    const agent = await holder('crm.plan', 'auto', { conditions: [{ when: 'input.amount > 10', hitlMode: 'propose', reason: 'much' }] });
    const headers = { 'Idempotency-Key': 'why' };
    const call = () => agent.client.post(EXECUTE, { capability: 'crm.plan', input: { amount: 11 } }, { headers });
    const first = (await call()).expect(202);
    expect(first.at('reasons')).toEqual([
      { rule: 'grant_mode', detail: 'The grant says auto.' }, { rule: 'condition', detail: 'Condition 1 holds and asks for propose: much' },
    ]);
    expect(first.at('expiresAt')).toBe((await requestOf(server, first.text('hitlRequestId')))['expires_at']);
    const { reasons, expiresAt } = first.body as { reasons: unknown; expiresAt: string };
    expect((await call()).expect(202).body).toMatchObject({ reasons, expiresAt, runs: 'caller' });
  });

  test('of limits: which is used up, what is left, and from when on there is room', async () => {
    const limits = [{ max: 2, per: 'minute', then: 'block' }, { max: 10, per: 'total', sum: 'input.amount', then: 'propose' }];
    const agent = await holder('crm.plan', 'auto', { limits });
    const call = async (amount: number) => (await agent.client.post(EXECUTE, { capability: 'crm.plan', input: { amount } })).body;
    expect(await call(4)).toMatchObject({ status: 'executed' });
    expect(await call(7)).toMatchObject({
      status: 'pending_hitl', limits: [{ max: 10, per: 'total', sum: 'input.amount', then: 'propose', used: 4, left: 6 }],
    });
    const blocked = (await call(1)) as { limits: { retryAfter: number }[] };
    expect(blocked).toMatchObject({ status: 'blocked', limits: [{ max: 2, per: 'minute', used: 2, left: 0 }, { used: 11, left: 0 }] });
    expect(blocked.limits[0]!.retryAfter).toBeGreaterThan(0);
    expect(blocked.limits[0]!.retryAfter).toBeLessThanOrEqual(60);
    expect(blocked.limits[1]!).not.toHaveProperty('retryAfter');
    const held = (await agent.client.get(`/api/v1/agents/${agent.id}/capabilities`)).expect(200).at('grants.0.usage');
    expect(held).toMatchObject([{ per: 'minute', used: 2, left: 0 }, { per: 'total', used: 11, left: 0 }]);
  });
});
