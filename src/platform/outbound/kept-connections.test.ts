import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { OutboundGuard, type OutboundOutcome, type OutboundRequest } from './outbound-guard.js';
import { answerBy, listening, options, port, seen, startOutbound, to } from '../../../test/support/http/outbound-guards.js';

startOutbound();

const closers: (() => unknown)[] = [];
afterEach(() => closers.splice(0).forEach((close) => close()));

/** A receiver that notes by which connection each request came. */
async function receiver(host = '127.0.0.1', at = 0) {
  const sockets: Socket[] = [];
  const by: number[] = [];
  const server: Server = createServer((request, response) => {
    by.push(sockets.indexOf(request.socket));
    request.resume().on('end', () => response.end('ok'));
  }).on('connection', (socket) => sockets.push(socket));
  closers.push(() => (server.closeAllConnections(), server.close()));
  return { at: await listening(server, host, at), by, sockets };
}

const kept = (parts: Partial<OutboundRequest> = {}) => options({ keptFor: 'org_a', ...parts });
const answers = (outcomes: readonly OutboundOutcome[]) => outcomes.map((outcome) => outcome.kind === 'answered' && outcome.status);
const guard = () => new OutboundGuard({ production: false, allow: [] }, to);

describe('a connection that is kept', () => {
  it('serves the calls of one keeper to one origin, one after the other, and no others', async () => {
    const [{ at, by }, own] = [await receiver(), guard()];
    const call = async (parts: Partial<OutboundRequest> = {}, name = 'receiver.test') => {
      const outcome = await own.fetch(`http://${name}:${at}/`, kept(parts));
      await pause(5);
      return outcome;
    };
    await call();
    await call({ method: 'POST', body: '{}' });
    await call({ keptFor: 'org_b' });
    await call({}, 'other.test');
    await call();
    const { keptFor: _keeper, ...alone } = kept();
    await own.fetch(`http://receiver.test:${at}/`, alone);
    expect(by).toEqual([0, 0, 1, 2, 0, 3]);
  });

  it('does not hold up calls at once: none is sent behind another\'s answer', async () => {
    const [{ at, by }, own] = [await receiver(), guard()];
    await own.fetch(`http://receiver.test:${at}/`, kept());
    await pause(5);
    expect(answers(await Promise.all(Array.from({ length: 20 }, () => own.fetch(`http://receiver.test:${at}/`, kept())))))
      .toEqual(Array(20).fill(200));
    expect(new Set(by.slice(1)).size).toBe(20);
  });

  it('is not used when the name leads elsewhere, and an address that may not be called is not', async () => {
    const first = await receiver('127.0.0.2');
    const second = await receiver('127.0.0.1', first.at);
    let address = '127.0.0.2';
    const flipping = new OutboundGuard({ production: false, allow: [] }, async () => [{ address, family: 4 }]);
    const call = () => flipping.fetch(`http://flip.test:${first.at}/`, kept());
    expect(answers([await call()])).toEqual([200]);
    address = '127.0.0.1';
    expect(answers([await call()])).toEqual([200]);
    address = '169.254.169.254';
    expect(await call()).toMatchObject({ kind: 'unreachable', code: 'UNSAFE_URL' });
    expect([first.by, second.by]).toEqual([[0], [0]]);
  });

  it('that the receiver closed in between costs neither an execution nor a second one', async () => {
    const [{ at, by, sockets }, own] = [await receiver(), guard()];
    await own.fetch(`http://receiver.test:${at}/`, kept());
    sockets[0]!.end();
    await pause(50);
    expect(await own.fetch(`http://receiver.test:${at}/`, kept({ method: 'POST', body: '{}' }))).toMatchObject({ status: 200 });
    expect(by).toEqual([0, 1]);
  });

  it('that ends under a request leaves its outcome unknown, and sends it once', async () => {
    const own = guard();
    await own.fetch(`http://receiver.test:${port}/`, kept());
    answerBy((request) => request.socket.destroy());
    expect(await own.fetch(`http://receiver.test:${port}/`, kept({ method: 'POST', body: 'x' })))
      .toMatchObject({ kind: 'unknown', code: 'CONNECTION_LOST' });
    expect(seen).toHaveLength(2);
  });

  it('on which more comes than was asked for is not used again: no answer goes to the next caller', async () => {
    const sockets: Socket[] = [];
    const double = createTcpServer((socket) => {
      sockets.push(socket);
      const one = (text: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
      socket.on('error', () => undefined).once('data', () => socket.write(one('mine') + one('forged')));
    });
    closers.push(() => double.close(), () => sockets.forEach((socket) => socket.destroy()));
    const [at, own] = [await listening(double), guard()];
    for (const _ of [1, 2, 3]) {
      const outcome = await own.fetch(`http://receiver.test:${at}/`, kept());
      expect(outcome.kind === 'answered' && outcome.body.toString()).toBe('mine');
      await pause(10);
    }
    expect(sockets).toHaveLength(3);
  });

  it('is not waited for beyond the time of the call, and nothing is sent then', async () => {
    let bytes = '';
    const mute = createTcpServer((socket) => socket.on('error', () => undefined).on('data', (data) => (bytes += data.toString('latin1'))));
    closers.push(() => mute.close());
    const outcome = await guard().fetch(`https://receiver.test:${await listening(mute)}/`, kept({ timeoutMs: 200 }));
    expect(outcome).toMatchObject({ kind: 'unreachable', code: 'TIMEOUT' });
    expect(bytes).not.toContain('GET');
  });

  it('ends when nobody has used it for a second, and not under a longer call', async () => {
    const [{ at, sockets }, own] = [await receiver(), guard()];
    answerBy((_request, response) => setTimeout(() => response.end('late'), 2_500));
    expect(await own.fetch(`http://receiver.test:${port}/`, kept({ timeoutMs: 20_000 }))).toMatchObject({ status: 200 });
    await own.fetch(`http://receiver.test:${at}/`, kept());
    await new Promise((resolve) => sockets[0]!.once('close', resolve));
  });
});
