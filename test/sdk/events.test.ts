import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type HitlEvent } from '@countersign/sdk';
import { EventParser } from '../../sdk/src/events/event-parser.js';
import { eventually } from '../support/running/eventually.js';
import { rejection, sdkAsAgent, sdkAsRoot } from '../support/sdk/callers.js';
import { type Gateway, startGateway } from '../support/sdk/gateway.js';
import { back, startServer, type TestServer } from '../support/servers/server.js';

let server: TestServer;
let gateway: Gateway;
beforeAll(async () => {
  server = await startServer();
  gateway = await startGateway(() => [server.url]);
});
afterAll(async () => {
  await gateway.close();
  await server.stop();
});

async function followed(into: HitlEvent[], options: { lastEventId?: string; signal: AbortSignal }): Promise<void> {
  for await (const event of sdkAsRoot(gateway).hitl.events(options)) into.push(event);
}

test('comes back by itself behind the last event: none is missed, none comes twice', async () => {
  const { sdk } = await sdkAsAgent(server, { 'email.send': { hitlMode: 'propose' } });
  const seen: HitlEvent[] = [];
  const ending = new AbortController();
  const over = followed(seen, { signal: ending.signal });
  await eventually(() => expect(gateway.count(/events/)).toBe(1));
  const ids: string[] = [];
  const ask = async () => ids.push((await sdk.execute('email.send', { n: ids.length }) as { hitlRequestId: string }).hitlRequestId);
  const created = () => seen.filter(({ event }) => event === 'hitl.created').map(({ data }) => data['id']);
  // The stream may not stand yet: what is asked before it does would not be told.
  await eventually(async () => {
    await ask();
    expect(created().length).toBeGreaterThan(0);
  });
  const known = ids.slice(ids.indexOf(created()[0] as string));
  await server.kill();
  await back(server);
  for (let n = 0; n < 5; n++) await ask();
  const wanted = [...known, ...ids.slice(-5)];
  await eventually(() => expect(created()).toEqual(expect.arrayContaining(wanted)));
  expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
  expect(created()).toHaveLength(new Set(created()).size);
  ending.abort();
  await over;
});

test('tells a reset, and goes on; whoever leaves the iteration leaves no connection', async () => {
  const { sdk } = await sdkAsAgent(server, { 'email.send': { hitlMode: 'propose' } });
  const seen: string[] = [];
  // A position that this database cannot have given.
  for await (const { event, data } of sdkAsRoot(gateway).hitl.events({ lastEventId: '18446744073709551615.0' })) {
    seen.push(event);
    if (event === 'reset') {
      expect(data).toEqual({ reason: 'unknown' });
      await sdk.execute('email.send', { n: 1 });
    } else break;
  }
  expect(seen).toEqual(['reset', 'hitl.created']);
  await eventually(() => expect(gateway.open()).toBe(0));
});

test('a credential or a position that the service refuses is told, not tried for ever', async () => {
  const stranger = sdkAsRoot(server, { credential: `svc_user_${'a'.repeat(64)}` }).hitl.events();
  expect(await rejection(stranger.next())).toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(await rejection(sdkAsRoot(server).hitl.events({ lastEventId: 'nonsense' }).next())).toMatchObject({ code: 'VALIDATION_FAILED' });
});

test('events are cut from text in whatever pieces it comes, and half of one does not move the position', () => {
  const text = ': hello\nretry: 1000\nid: 1.1\n\nid: 1.2\nevent: a\ndata: {"t":\ndata: "é"}\n\r\nid: 1.3\rdata: x\r\rid: 1.4\nevent: b';
  for (let size = 1; size <= text.length; size++) {
    const parser = new EventParser();
    const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, n) => text.slice(n * size, (n + 1) * size));
    const events = pieces.flatMap((piece) => parser.push(piece));
    expect(events).toEqual([{ id: '1.2', event: 'a', data: '{"t":\n"é"}' }, { id: '1.3', event: 'message', data: 'x' }]);
    expect([parser.lastId, parser.retryMs]).toEqual(['1.3', 1_000]);
  }
});
