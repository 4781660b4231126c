import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { CountersignError } from '@countersign/sdk';
import { randomUUID } from 'node:crypto';
import { defineCapability, executionOf } from '../support/builders/gate.js';
import { type Receiver, startReceiver } from '../support/http/receiver.js';
import { approve, rejection, sdkAsAgent, sdkAsRoot } from '../support/sdk/callers.js';
import { type Gateway, startGateway } from '../support/sdk/gateway.js';
import { startServer, type TestServer } from '../support/servers/server.js';

let server: TestServer;
let receiver: Receiver;
let gateway: Gateway;
beforeAll(async () => {
  [server, receiver] = await Promise.all([startServer(), startReceiver()]);
  gateway = await startGateway(() => [server.url]);
});
afterAll(async () => {
  await gateway.close();
  await server.stop();
  await receiver.close();
});

interface Mail extends Record<string, unknown> {
  readonly to: string;
}

/** A function that tells what it was called with. */
function sender() {
  const sent: Mail[] = [];
  const send = (mail: Mail) => {
    sent.push(mail);
    return { id: sent.length };
  };
  return { sent, send };
}

test('runs what the gate lets through, and reports what came of it', async () => {
  const { sdk } = await sdkAsAgent(server, { 'email.send': {} });
  const { sent, send } = sender();
  const ids: string[] = [];
  const governed = sdk.governed((mail: Mail, { executionId }) => {
    ids.push(executionId);
    return send(mail);
  }, 'email.send', { action: 'Send a mail' });
  expect(await governed({ to: 'anna' })).toEqual({ id: 1 });
  expect(sent).toEqual([{ to: 'anna' }]);
  expect(await executionOf(server, ids[0]!)).toMatchObject({ status: 'executed', report: { outcome: 'success', output: { id: 1 } } });
});

test('what it throws comes through, and is reported', async () => {
  const { sdk } = await sdkAsAgent(server, { 'email.send': {} });
  const full = new Error('mailbox full');
  let id = '';
  const governed = sdk.governed((_: Mail, { executionId }) => {
    id = executionId;
    throw full;
  }, 'email.send');
  expect(await rejection(governed({ to: 'anna' }))).toBe(full);
  expect(await executionOf(server, id)).toMatchObject({ report: { outcome: 'failure', error: { message: 'mailbox full' } } });
});

test('runs on the input as a person edited it, after the approval', async () => {
  const { sdk } = await sdkAsAgent(server, { 'email.send': { hitlMode: 'propose' } });
  const { sent, send } = sender();
  const governed = sdk.governed(send, 'email.send', {
    onPending: ({ hitlRequestId }) => {
      expect(sent).toEqual([]);
      void approve(server, hitlRequestId, { editedInput: { to: 'bert' } });
    },
  });
  await governed({ to: 'anna' });
  expect(sent).toEqual([{ to: 'bert' }]);
});

test('runs on the input as it was when it was asked for, whatever becomes of the caller\'s object', async () => {
  const { sdk } = await sdkAsAgent(server, { 'email.send': { hitlMode: 'propose' }, 'file.read': {} });
  const { sent, send } = sender();
  const [asked, at] = [{ to: 'anna' }, { to: 'anna' }];
  const governed = sdk.governed(send, 'email.send', {
    onPending: ({ hitlRequestId }) => {
      asked.to = 'mallory';
      void approve(server, hitlRequestId);
    },
  });
  await governed(asked);
  const once = sdk.governed(send, 'file.read')(at);
  at.to = 'mallory';
  await once;
  expect(sent).toEqual([{ to: 'anna' }, { to: 'anna' }]);
});

test('a licence that two wait for under one key is given to who asked first', async () => {
  const { sdk } = await sdkAsAgent(server, { 'email.send': { hitlMode: 'propose' } });
  const { sent, send } = sender();
  let second: Promise<unknown> | undefined;
  const governed = sdk.governed(send, 'email.send');
  await governed({ to: 'anna' }, {
    idempotencyKey: 'mail-2',
    onPending: ({ hitlRequestId }) => {
      second ??= rejection(governed({ to: 'anna' }, { idempotencyKey: 'mail-2', onPending: () => void approve(server, hitlRequestId) }));
    },
  });
  expect(await second).toMatchObject({ code: 'ALREADY_EXECUTED' });
  expect(sent).toHaveLength(1);
});

test('the wait is over, rejected, blocked: it does not run', async () => {
  const { sdk } = await sdkAsAgent(server, { 'email.send': { hitlMode: 'propose' }, 'file.read': { hitlMode: 'block' } });
  const { hitl } = sdkAsRoot(server);
  const { sent, send } = sender();
  const waits = sdk.governed(send, 'email.send', { waitTimeoutMs: 1_500 });
  expect(await rejection(waits({ to: 'anna' }))).toMatchObject({ code: 'HITL_PENDING', hitlId: expect.stringMatching(/^hitl_/) });
  const rejected = sdk.governed(send, 'email.send', {
    onPending: ({ hitlRequestId }) => void hitl.get(hitlRequestId).then((shown) => hitl.reject(shown, { note: 'no' })),
  });
  expect(await rejection(rejected({ to: 'anna' }))).toMatchObject({ code: 'HITL_REJECTED', detail: 'no' });
  const blocked = sdk.governed(send, 'file.read');
  expect(await rejection(blocked({ to: 'anna' }))).toMatchObject({ code: 'CAPABILITY_BLOCKED', detail: 'capability blocked by policy' });
  expect(sent).toEqual([]);
});

test('what the service does by a connector it does not do again', async () => {
  const capability = `shop.order-${randomUUID()}`;
  await defineCapability(server, capability, { connector: { type: 'http', method: 'POST', url: receiver.url } });
  const { sdk } = await sdkAsAgent(server, { [capability]: {} });
  const { sent, send } = sender();
  expect(await rejection(sdk.governed(send, capability)({ to: 'anna' }))).toMatchObject({ code: 'RUN_BY_SERVICE', output: { ok: true } });
  expect(sent).toEqual([]);
});

test('a licence under a key is given once; an answer that was lost on its way is no second one', async () => {
  const { sdk } = await sdkAsAgent(server, { 'email.send': {} }, { url: gateway.url });
  const { sent, send } = sender();
  const governed = sdk.governed(send, 'email.send');
  await governed({ to: 'anna' }, { idempotencyKey: 'mail-1' });
  expect(await rejection(governed({ to: 'anna' }, { idempotencyKey: 'mail-1' }))).toMatchObject({ code: 'ALREADY_EXECUTED' });
  expect(sent).toHaveLength(1);
  let lost = 0;
  gateway.fault(({ path }) => (/execute$/.test(path) && lost++ === 0 ? 'lost' : undefined));
  await governed({ to: 'bert' });
  expect(lost).toBe(2);
  expect(sent).toHaveLength(2);
  expect((await sdk.executions.list()).total).toBe(2);
});

test('a result that is no JSON, or too long, is reported without it, and that is said', async () => {
  const { sdk } = await sdkAsAgent(server, { 'email.send': {} });
  for (const [result, code] of [[NaN, 'VALIDATION_FAILED'], ['x'.repeat(300 * 1024), 'BODY_TOO_LARGE']] as const) {
    const errors: CountersignError[] = [];
    const onReportError = (error: CountersignError) => {
      errors.push(error);
      throw new Error('nobody is told');
    };
    expect(await sdk.governed(() => result, 'email.send', { onReportError })({ to: 'anna' })).toBe(result);
    expect(errors).toEqual([expect.objectContaining({ code, executionId: expect.stringMatching(/^exec_/) })]);
    expect((await executionOf(server, errors[0]!.executionId!))).toMatchObject({ report: { outcome: 'success' } });
  }
});

test('a report that nobody takes does not undo what was done', async () => {
  const { sdk } = await sdkAsAgent(server, { 'email.send': {} }, { url: gateway.url, timeoutMs: 3_000 });
  gateway.fault(({ path }) => (/report$/.test(path) ? { status: 500 } : undefined));
  const errors: unknown[] = [];
  const governed = sdk.governed(sender().send, 'email.send', { onReportError: (error) => errors.push(error) });
  expect(await governed({ to: 'anna' })).toEqual({ id: 1 });
  expect(errors).toEqual([expect.objectContaining({ code: 'BAD_RESPONSE', executionId: expect.stringMatching(/^exec_/) })]);
});
