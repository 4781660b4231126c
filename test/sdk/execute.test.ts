import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Outcome, type PendingApproval } from '@countersign/sdk';
import { defineCapability } from '../support/builders/gate.js';
import { type Receiver, startReceiver } from '../support/http/receiver.js';
import { approve, rejection, sdkAsAgent, sdkAsRoot } from '../support/sdk/callers.js';
import { startServer, type TestServer } from '../support/servers/server.js';

let server: TestServer;
let receiver: Receiver;
beforeAll(async () => {
  [server, receiver] = await Promise.all([startServer(), startReceiver()]);
  const connector = { type: 'http', method: 'POST', url: `${receiver.url}/orders`, body: '{input}' };
  await defineCapability(server, 'shop.order', { connector });
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});

const PROPOSE = { 'email.send': { hitlMode: 'propose' } };
/** Long enough for a busy machine; the wait ends by what happens. */
const waiting = { waitForApproval: true, waitTimeoutMs: 120_000 };

describe('options that cannot be used', () => {
  test.each([
    ['a time that is no number', { waitForApproval: true, waitTimeoutMs: NaN }], ['the like', { timeoutMs: NaN }],
    ['a key with a line break', { idempotencyKey: 'a\nb' }], ['a key that is empty', { idempotencyKey: '' }],
    ['what is no object', null as unknown as object],
  ])('%s: nothing is sent', async (_, options) => {
    const { sdk } = await sdkAsAgent(server, PROPOSE);
    expect(await rejection(sdk.execute('email.send', {}, options))).toMatchObject({ code: 'INVALID_OPTIONS' });
    expect(await server.sql('select from hitl_requests')).toEqual([]);
  });
});

describe("a caller's own function that throws", () => {
  test.each<[string, () => unknown]>([
    ['at once', () => {
      throw new Error('disk full');
    }],
    ['later', async () => Promise.reject(new Error('disk full'))],
  ])('%s: the request is named, and nothing is left', async (_, onPending) => {
    const { sdk } = await sdkAsAgent(server, PROPOSE);
    const failed = {
      code: 'CALLBACK_FAILED', detail: 'onPending: disk full', cause: { message: 'disk full' },
      hitlId: expect.stringMatching(/^hitl_/), executionId: expect.stringMatching(/^exec_/), idempotencyKey: expect.stringMatching(/./),
    };
    for (const waitForApproval of [true, false]) {
      expect(await rejection(sdk.execute('email.send', {}, { waitForApproval, onPending }))).toMatchObject(failed);
    }
    const { hitlRequestId } = await sdk.execute('email.send') as PendingApproval;
    expect(await rejection(sdk.waitFor(hitlRequestId, { onPending }))).toMatchObject({ code: 'CALLBACK_FAILED', hitlId: hitlRequestId });
  });

  test('one that never returns ends with the wait', async () => {
    const { sdk } = await sdkAsAgent(server, PROPOSE);
    const onPending = () => new Promise<void>(() => undefined);
    const outcome = await sdk.execute('email.send', {}, { waitForApproval: true, waitTimeoutMs: 300, onPending });
    expect(outcome).toMatchObject({ status: 'pending_approval', hitlRequestId: expect.stringMatching(/^hitl_/) });
  });
});

describe('what became of a call', () => {
  test('executed, with the entry in the log', async () => {
    const { sdk } = await sdkAsAgent(server, { 'web.search': {} });
    const outcome = await sdk.execute('web.search', { query: 'steel' }, { action: 'Search', context: { session_id: 's1' } });
    expect(outcome).toMatchObject({ status: 'executed', runs: 'caller', auditId: expect.stringMatching(/^audit_/) });
  });

  test('executed by a connector, with its output, and failed, with its error', async () => {
    const { sdk } = await sdkAsAgent(server, { 'shop.order': {} });
    expect(await sdk.execute('shop.order', { n: 1 })).toMatchObject({ status: 'executed', runs: 'service', output: { ok: true } });
    receiver.script({ status: 422 });
    expect(await sdk.execute('shop.order', { n: 2 })).toMatchObject({ status: 'failed', error: { code: 'CONNECTOR_STATUS' } });
  });

  test('blocked, with the reason', async () => {
    const { sdk } = await sdkAsAgent(server, { 'file.read': { hitlMode: 'block' } });
    expect(await sdk.execute('file.read')).toMatchObject({ status: 'blocked', reason: 'capability blocked by policy' });
  });

  test('not granted', async () => {
    const { sdk } = await sdkAsAgent(server, {});
    const error = await rejection(sdk.execute('web.search'));
    expect(error).toMatchObject({
      name: 'CountersignError', code: 'CAPABILITY_NOT_GRANTED', status: 403, requestId: expect.stringMatching(/./),
      idempotencyKey: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
  });

  test('a dry run says what would be, and does nothing', async () => {
    const { sdk } = await sdkAsAgent(server, PROPOSE);
    expect(await sdk.gate.dryRun('email.send')).toMatchObject({ status: 'dry_run', decision: 'ask', effectiveMode: 'propose' });
    expect((await sdk.hitl.list()).total).toBe(0);
  });
});

describe('a person is asked', () => {
  test('pending_approval where nobody waits, and waitFor goes on from elsewhere', async () => {
    const { agent, sdk } = await sdkAsAgent(server, PROPOSE);
    const pending = await sdk.execute('email.send', { to: 'anna' }) as PendingApproval;
    const ids = { hitlRequestId: expect.stringMatching(/^hitl_/), executionId: expect.stringMatching(/^exec_/) };
    expect(pending).toMatchObject({ status: 'pending_approval', ...ids });
    const elsewhere = sdkAsAgentOf(agent.token);
    const waited = elsewhere.waitFor(pending.hitlRequestId, { waitTimeoutMs: 120_000 });
    await approve(server, pending.hitlRequestId, { note: 'fine' });
    const outcome = await waited;
    expect(outcome).toMatchObject({ status: 'executed', executionId: pending.executionId, hitlRequestId: pending.hitlRequestId });
    expect(await elsewhere.waitFor(pending.hitlRequestId)).toEqual(outcome);
  });

  test('approved as edited: the outcome says what ran', async () => {
    const { sdk } = await sdkAsAgent(server, PROPOSE);
    const outcome = await sdk.execute('email.send', { amount: 10 }, {
      ...waiting, onPending: ({ hitlRequestId }) => void approve(server, hitlRequestId, { editedInput: { amount: 1 } }),
    });
    expect(outcome).toMatchObject({ status: 'executed', input: { amount: 1 }, edit: { by: 'root' } });
  });

  test.each([
    ['HITL_REJECTED', 'rejected', 'Not this quarter.'],
    ['HITL_TIMED_OUT', 'timed out', undefined],
    ['HITL_CANCELLED', 'cancelled', undefined],
  ] as const)('%s where it was %s', async (code, how, comment) => {
    const { sdk } = await sdkAsAgent(server, PROPOSE);
    const root = sdkAsRoot(server);
    const onPending = ({ hitlRequestId: id }: PendingApproval) => void {
      'rejected': async () => root.hitl.reject(await root.hitl.get(id), { note: 'Not this quarter.' }),
      'timed out': () => root.hitl.timeout(id),
      'cancelled': () => root.hitl.cancel(id),
    }[how]();
    const error = await rejection(sdk.execute('email.send', {}, { ...waiting, onPending }));
    expect(error).toMatchObject({
      code, hitlId: expect.stringMatching(/^hitl_/), executionId: expect.stringMatching(/^exec_/), ...(comment ? { detail: comment } : {}),
    });
  });

  test('the wait is over: pending_approval, told from an answer', async () => {
    const { sdk } = await sdkAsAgent(server, PROPOSE);
    const outcome: Outcome = await sdk.execute('email.send', {}, { waitForApproval: true, waitTimeoutMs: 1_500 });
    expect(outcome.status).toBe('pending_approval');
    const { hitlRequestId } = outcome as PendingApproval;
    const waited = await sdk.waitFor(hitlRequestId, { waitTimeoutMs: 1_500 });
    expect(waited).toMatchObject({ status: 'pending_approval', hitlRequestId, executionId: (outcome as PendingApproval).executionId });
  });

  test('waitFor tells at once what it waits for', async () => {
    const { sdk } = await sdkAsAgent(server, PROPOSE);
    const { hitlRequestId, executionId } = await sdk.execute('email.send') as PendingApproval;
    const onPending = (pending: PendingApproval) => {
      expect(pending).toMatchObject({ status: 'pending_approval', hitlRequestId, executionId });
      void approve(server, hitlRequestId);
    };
    expect(await sdk.waitFor(hitlRequestId, { waitTimeoutMs: 120_000, onPending })).toMatchObject({ status: 'executed' });
  });
});

const sdkAsAgentOf = (token: string) => sdkAsRoot(server, { credential: token });
