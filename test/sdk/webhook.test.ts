import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { verifyWebhook } from '@countersign/sdk';
import { Webhook } from 'standardwebhooks';
import { type ReceivedRequest, type Receiver, startReceiver } from '../support/http/receiver.js';
import { rejection, sdkAsAgent, sdkAsRoot } from '../support/sdk/callers.js';
import { startServer, type TestServer } from '../support/servers/server.js';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = `whsec_${Buffer.from('another secret, long enough').toString('base64')}`;

let server: TestServer;
let receiver: Receiver;
let sent: ReceivedRequest;
/** What the service sends, as it came. */
beforeAll(async () => {
  [server, receiver] = await Promise.all([startServer(), startReceiver()]);
  await sdkAsRoot(server).notifications.setChannel('webhook', { enabled: true, settings: { url: receiver.url, secret: SECRET } });
  const { sdk } = await sdkAsAgent(server, { 'email.send': { hitlMode: 'propose' } });
  await sdk.execute('email.send', { to: 'anna' });
  [sent] = (await receiver.received(1)) as [ReceivedRequest];
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});

const at = () => Number(sent.headers['webhook-timestamp']) * 1_000;
const held = (change: { body?: string; headers?: Record<string, string | undefined>; secret?: string | string[]; now?: number } = {}) =>
  verifyWebhook(change.body ?? sent.body, { ...sent.headers, ...change.headers }, change.secret ?? SECRET, { now: change.now ?? at() });

test('what the service sends holds, as text, as bytes, with headers of either kind', async () => {
  expect(JSON.parse(sent.body)).toMatchObject({ event: 'hitl.request.created' });
  expect(await held()).toBe(true);
  expect(await verifyWebhook(Buffer.from(sent.body), new Headers(sent.headers as Record<string, string>), [OTHER, SECRET])).toBe(true);
});

const signature = () => String(sent.headers['webhook-signature']);
test.each<[string, () => Parameters<typeof held>[0]]>([
  ['another secret', () => ({ secret: OTHER })],
  ['another body', () => ({ body: `${sent.body} ` })],
  ['another id', () => ({ headers: { 'webhook-id': 'dlv_other' } })],
  ['another time', () => ({ headers: { 'webhook-timestamp': String(at() / 1_000 + 1) } })],
  ['no signature', () => ({ headers: { 'webhook-signature': undefined } })],
  ['a signature cut off', () => ({ headers: { 'webhook-signature': signature().slice(0, -8) } })],
  ['no base64', () => ({ headers: { 'webhook-signature': 'v1,%%%' } })],
  ['another version', () => ({ headers: { 'webhook-signature': signature().replace('v1,', 'v1a,') } })],
  ['a time that is none', () => ({ headers: { 'webhook-timestamp': '1e9' } })],
  ['old', () => ({ now: at() + 301_000 })],
  ['from the future', () => ({ now: at() - 301_000 })],
])('%s: false', async (_, change) => {
  expect(await held(change())).toBe(false);
});

test.each<[string, unknown[], RegExp]>([
  ['a parsed body', [{ event: 'hitl' }, {}, SECRET], /needs the bytes of the body as they came/],
  ['nothing', [], /needs the bytes/], ['no headers', ['body', undefined, SECRET], /needs the headers/],
  ['no secret', ['body', {}, undefined], /needs the secret/], ['an empty one', ['body', {}, ''], /needs the secret/],
  ['none of several', ['body', {}, []], /needs the secret/], ['no base64', ['body', {}, 'whsec_%%'], /needs the secret/],
  ['another option', ['body', {}, SECRET, { tolerance: 5 }], /verifyWebhook has no option tolerance; there are toleranceSeconds, now/],
])('called with %s: says so', async (_, given, detail) => {
  const call = verifyWebhook as (...given: unknown[]) => Promise<boolean>;
  expect(await rejection(call(...given))).toMatchObject({ code: 'INVALID_OPTIONS', detail: expect.stringMatching(detail) });
});

test('a tolerance that is no number lets nothing through, and headers of another platform are read', async () => {
  expect(await verifyWebhook(sent.body, sent.headers, SECRET, { now: at(), toleranceSeconds: NaN })).toBe(false);
  const foreign = { get: (name: string) => sent.headers[name] ?? null } as unknown as Headers;
  expect(await verifyWebhook(sent.body, foreign, SECRET, { now: at() })).toBe(true);
});

test('several signatures, while a secret is replaced', async () => {
  const now = new Date(at());
  const both = [OTHER, SECRET].map((secret) => new Webhook(secret).sign('dlv_1', now, 'body')).join(' ');
  const headers = { 'webhook-id': 'dlv_1', 'webhook-timestamp': String(at() / 1_000), 'webhook-signature': both };
  for (const secret of [OTHER, SECRET]) expect(await verifyWebhook('body', headers, secret, { now: at() })).toBe(true);
});
