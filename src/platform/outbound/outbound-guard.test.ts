import { createServer as createTcpServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { OutboundGuard, type OutboundRequest } from './outbound-guard.js';
import {
  startOutbound, port, answerBy, seen, canaryPort, touched, listening, options, development,
} from '../../../test/support/http/outbound-guards.js';

startOutbound();

const fetch = (parts: Partial<OutboundRequest> = {}, path = '/') =>
  development.fetch(`http://receiver.test:${port}${path}`, options(parts));

/** The outcome of a call whose time is over. In a short one a busy machine only gets to connect; then a longer one is tried. */
async function timedOut(kind: 'answered' | 'unknown', timeoutMs = 200): Promise<Awaited<ReturnType<typeof fetch>>> {
  const outcome = await fetch({ timeoutMs });
  return outcome.kind === kind || timeoutMs > 5_000 ? outcome : timedOut(kind, timeoutMs * 6);
}

describe('a call', () => {
  it('sends method, headers and body, and brings the answer', async () => {
    answerBy((_request, response) => response.writeHead(201, { 'content-type': 'text/plain', 'x-a': 'b' }).end('made'));
    const outcome = await fetch({ method: 'POST', headers: { 'content-type': 'application/json', 'x-c': 'd' }, body: '{"a":1}' },
      '/x?y=1');
    expect(outcome).toMatchObject({ kind: 'answered', status: 201, headers: { 'x-a': 'b' }, complete: true });
    expect(outcome.kind === 'answered' && outcome.body.toString()).toBe('made');
    expect(seen).toMatchObject([{ method: 'POST', url: '/x?y=1', body: '{"a":1}',
      headers: { 'x-c': 'd', host: `receiver.test:${port}`, 'accept-encoding': 'identity' } }]);
  });

  it.each([102, 103, 104])('waits for the answer behind a %i', async (status) => {
    answerBy((request, response) => {
      request.socket.write(`HTTP/1.1 ${status} Not Yet\r\nlink: </a>\r\n\r\n`.repeat(2));
      response.writeHead(201).end('made');
    });
    const outcome = await fetch({ method: 'POST', body: '{}' });
    expect(outcome).toMatchObject({ kind: 'answered', status: 201, complete: true });
    expect(seen).toHaveLength(1);
  });

  it('follows no redirect', async () => {
    answerBy((_request, response) => response.writeHead(302, { location: `http://127.0.0.1:${canaryPort}/` }).end());
    expect(await fetch()).toMatchObject({ kind: 'answered', status: 302 });
    expect(seen).toHaveLength(1);
    expect(touched).toBe(0);
  });

  it('uses no proxy of the environment', async () => {
    const before = { ...process.env };
    Object.assign(process.env, { HTTP_PROXY: `http://127.0.0.1:${canaryPort}`, http_proxy: `http://127.0.0.1:${canaryPort}`,
      NODE_USE_ENV_PROXY: '1' });
    try {
      expect(await fetch()).toMatchObject({ kind: 'answered', status: 200 });
    } finally {
      process.env = before;
    }
    expect(touched).toBe(0);
  });

  it('cuts a large answer, and keeps its status', async () => {
    answerBy((_request, response) => response.writeHead(200).end('x'.repeat(5_000)));
    const outcome = await fetch();
    expect(outcome).toMatchObject({ kind: 'answered', status: 200, complete: false, problem: 'TOO_LARGE' });
    expect(outcome.kind === 'answered' && outcome.body.length).toBeLessThanOrEqual(1_000);
  });

  it('cuts an answer without end', async () => {
    answerBy((_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'), 10);
      response.on('close', () => clearInterval(timer));
    });
    expect(await timedOut('answered')).toMatchObject({ kind: 'answered', complete: false, problem: 'TIMEOUT' });
  });

  it('keeps the status of an answer that was cut off', async () => {
    answerBy((_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half');
      setTimeout(() => response.destroy(), 20);
    });
    expect(await fetch()).toMatchObject({ kind: 'answered', status: 200, complete: false, problem: 'CONNECTION_LOST' });
  });
});

describe('what may have been sent', () => {
  it('nothing, where nobody listens', async () => {
    const free = createTcpServer();
    const closed = await listening(free);
    await new Promise((done) => free.close(done));
    expect(await development.fetch(`http://receiver.test:${closed}/`, options())).toMatchObject({ kind: 'unreachable',
      code: 'CONNECT' });
  });

  it('nothing, where the name is unknown or has no address', async () => {
    const unknown = new OutboundGuard({ production: false, allow: [] }, () => Promise.reject(new Error('ENOTFOUND')));
    expect(await unknown.fetch('http://nowhere.test/', options())).toMatchObject({ kind: 'unreachable', code: 'DNS' });
    const empty = new OutboundGuard({ production: false, allow: [] }, async () => []);
    expect(await empty.fetch('http://nowhere.test/', options())).toMatchObject({ kind: 'unreachable', code: 'DNS' });
  });

  it('nothing, where resolving takes too long', async () => {
    const slow = new OutboundGuard({ production: false, allow: [] }, () => new Promise(() => undefined));
    expect(await slow.fetch('http://slow.test/', options({ timeoutMs: 50 }))).toMatchObject({ kind: 'unreachable',
      code: 'TIMEOUT' });
  });

  it('nothing, where the TLS handshake fails', async () => {
    expect(await development.fetch(`https://receiver.test:${canaryPort}/`, options())).toMatchObject({ kind: 'unreachable' });
    expect(touched).toBe(1);
  });

  it('nothing, where the caller has given up before', async () => {
    expect(await fetch({ signal: AbortSignal.abort() })).toMatchObject({ kind: 'unreachable', code: 'ABORTED' });
    expect(seen).toHaveLength(0);
  });

  // Stands for a process that was frozen between connecting and sending: it learns of the connection before its timer goes off.
  it('nothing, where time ran out unnoticed while it connected', async () => {
    const outcome = await new Promise<Awaited<ReturnType<typeof fetch>>>((resolve) => setTimeout(async () => {
      resolve(fetch({ method: 'POST', body: '{}', timeoutMs: 150 }));
      for (let n = 0; n < 1_000; n++) await Promise.resolve();
      for (const end = performance.now() + 400; performance.now() < end;);
    }));
    expect(outcome).toMatchObject({ kind: 'unreachable' });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(seen).toEqual([]);
  });

  it('unknown, where the connection ends without an answer', async () => {
    answerBy((request) => request.socket.destroy());
    expect(await fetch({ method: 'POST', body: 'x' })).toMatchObject({ kind: 'unknown', code: 'CONNECTION_LOST' });
    expect(seen).toHaveLength(1);
  });

  it('unknown, where there is no answer in time', async () => {
    answerBy(() => undefined);
    expect(await timedOut('unknown')).toMatchObject({ kind: 'unknown', code: 'TIMEOUT' });
  });

  it('unknown, where the caller gives up meanwhile', async () => {
    const giveUp = new AbortController();
    answerBy(() => giveUp.abort());
    expect(await fetch({ signal: giveUp.signal })).toMatchObject({ kind: 'unknown', code: 'ABORTED' });
  });

  it('unknown, where what answers does not speak HTTP', async () => {
    const other = createTcpServer((socket) => socket.on('data', () => socket.end('SSH-2.0-x\r\n')));
    const otherPort = await listening(other);
    expect(await development.fetch(`http://receiver.test:${otherPort}/`, options())).toMatchObject({ kind: 'unknown' });
    other.close();
  });
});
