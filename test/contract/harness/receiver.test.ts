import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { eventually } from '../../support/running/eventually.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';

let receiver: Receiver;

beforeEach(async () => {
  receiver = await startReceiver();
});

afterEach(() => receiver.close());

test('it records what came, and answers by the script, then as it stands', async () => {
  receiver.script({ status: 503, headers: { 'retry-after': '1' } }, { status: 302, headers: { location: '/elsewhere' } });
  const send = () => fetch(`${receiver.url}/hook?a=1`, { method: 'POST', body: '{"n":1}', redirect: 'manual' });
  const statuses = [(await send()).status, (await send()).status];
  const standing = await send();
  expect(statuses).toEqual([503, 302]);
  expect([standing.status, await standing.json()]).toEqual([200, { ok: true }]);
  expect(await receiver.received(3)).toHaveLength(3);
  expect(receiver.requests[0]).toMatchObject({ method: 'POST', path: '/hook?a=1', body: '{"n":1}' });
});

test('it waits as long as it is told, and drips', async () => {
  receiver.script({ delayMs: 120, body: 'abcdef', drip: { bytes: 2, everyMs: 40 } });
  const began = performance.now();
  const response = await fetch(receiver.url);
  const headers = performance.now() - began;
  expect(await response.text()).toBe('abcdef');
  expect(headers).toBeGreaterThanOrEqual(115);
  // From the call's beginning: a busy machine sees the headers late.
  expect(performance.now() - began).toBeGreaterThanOrEqual(115 + 70);
});

test.each(['before headers', 'after headers'] as const)('it hangs %s until the caller gives up', async (hang) => {
  receiver.script({ hang, body: 'never' });
  const whole = async () => (await fetch(receiver.url, { signal: AbortSignal.timeout(200) })).text();
  await expect(whole()).rejects.toMatchObject({ name: 'TimeoutError' });
  expect(receiver.requests).toHaveLength(1);
});

test('it cuts the connection', async () => {
  receiver.script({ reset: true });
  await expect(fetch(receiver.url)).rejects.toThrow('fetch failed');
});

test('eventually gives what the attempt gave once it throws no more, or its last error', async () => {
  let attempts = 0;
  const third = () => {
    attempts += 1;
    if (attempts < 3) throw new Error(`attempt ${attempts}`);
    return attempts;
  };
  expect(await eventually(third, { every: 1 })).toBe(3);
  const never = () => {
    throw new Error('not yet');
  };
  await expect(eventually(never, { within: 30, every: 5 })).rejects.toThrow('not yet');
});
