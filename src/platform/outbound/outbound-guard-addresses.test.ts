import { createServer as createTcpServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { OutboundGuard, type Resolve } from './outbound-guard.js';
import {
  startOutbound, port, canaryPort, touched, listening, to, options, development, forgetTouches, touch,
} from '../../../test/support/http/outbound-guards.js';
import { unsafeAddresses } from '../../../test/support/http/unsafe-addresses.js';

startOutbound();

describe('in production nothing private is reached', () => {
  const resolveAll: Resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  const guard = new OutboundGuard({ production: true, allow: [] }, resolveAll);
  const corpus = () => unsafeAddresses(canaryPort);

  it('by none of some 200 addresses, whatever the notation', async () => {
    const urls = corpus();
    expect(urls.length).toBeGreaterThan(150);
    const outcomes = await Promise.all(urls.map(async (url) => [url, await guard.fetch(url, options())] as const));
    expect(outcomes.filter(([, outcome]) => outcome.kind !== 'unreachable' || outcome.code !== 'UNSAFE_URL').map(([url]) =>
      url)).toEqual([]);
    expect(touched).toBe(0);
  });

  it('though the canary is there: outside production the same addresses do reach it', async () => {
    const open = new OutboundGuard({ production: false, allow: [] }, resolveAll);
    for (const host of ['127.0.0.1', '0x7f.1', '[::ffff:127.0.0.1]', 'localhost', 'rebind.test']) {
      forgetTouches();
      await open.fetch(`https://${host}:${canaryPort}/`, options());
      expect([host, touched]).toEqual([host, 1]);
    }
  });

  it('by a name with one private address among public ones', async () => {
    const mixed = new OutboundGuard({ production: true, allow: [] }, async () =>
      [{ address: '8.8.8.8', family: 4 }, { address: '::1', family: 6 }]);
    expect(await mixed.fetch(`https://mixed.test:${canaryPort}/`, options())).toMatchObject({ kind: 'unreachable',
      code: 'UNSAFE_URL' });
  });

  it('by a name that changes its answer: it is asked once, and the connection goes to what was checked', async () => {
    // 127.0.0.2 stands for the public address, by the allow list; the second answer is the canary.
    let good = 0;
    const public2 = createTcpServer((socket) => {
      good++;
      socket.destroy();
    });
    const strict = createTcpServer((socket) => {
      touch();
      socket.destroy();
    });
    const at = await listening(public2, '127.0.0.2');
    await listening(strict, '127.0.0.1', at);
    let asked = 0;
    const flipping: Resolve = async () => [{ address: asked++ === 0 ? '127.0.0.2' : '127.0.0.1', family: 4 }];
    const pinned = new OutboundGuard({ production: true, allow: ['127.0.0.2'] }, flipping);
    await pinned.fetch(`https://flip.test:${at}/`, options());
    expect([asked, good, touched]).toEqual([1, 1, 0]);
    expect(await pinned.fetch(`https://flip.test:${at}/`, options())).toMatchObject({ kind: 'unreachable', code: 'UNSAFE_URL' });
    expect([asked, good, touched]).toEqual([2, 1, 0]);
    public2.close();
    strict.close();
  });

  it('but by the allow list: names with any address and by http, addresses, ports', async () => {
    const allowing = (...allow: string[]) => new OutboundGuard({ production: true, allow }, to);
    const url = `http://erp.internal:${port}/`;
    expect(await allowing('erp.internal').fetch(url, options())).toMatchObject({ kind: 'answered' });
    expect(await allowing(`erp.internal:${port}`).fetch(url, options())).toMatchObject({ kind: 'answered' });
    expect(await allowing('erp.internal:1').fetch(url, options())).toMatchObject({ code: 'UNSAFE_URL' });
    expect(await allowing('127.0.0.0/8').fetch(`http://127.0.0.1:${port}/`, options())).toMatchObject({ kind: 'answered' });
    expect(await allowing('127.0.0.0/8').fetch(`http://0x7f.1:${port}/`, options())).toMatchObject({ kind: 'answered' });
    expect(await allowing('127.0.0.0/8').fetch(`http://some.test:${port}/`, options())).toMatchObject({ code: 'UNSAFE_URL' });
  });

  it('and what the operator set is taken as it stands', async () => {
    expect(await guard.fetch(`http://127.0.0.1:${port}/`, options({ trusted: true }))).toMatchObject({ kind: 'answered' });
    expect(await guard.fetch('nonsense', options({ trusted: true }))).toMatchObject({ kind: 'unreachable', code: 'UNSAFE_URL' });
  });
});

describe('checking an address when it is configured', () => {
  const production = new OutboundGuard({ production: true, allow: ['erp.internal'] }, to);

  it.each(['https://api.example.com/', 'https://api.example.com:8443/a?b=c', 'https://8.8.8.8/', 'http://erp.internal/',
    'https://api.example.com/{input.a}'])('takes %s', (url) =>
    expect(production.checkUrl(url)).toMatchObject({ ok: true }));

  it.each(['http://api.example.com/', 'https://127.0.0.1/', 'https://[::1]/', 'https://localhost/', 'https://x.internal/',
    'https://u:p@api.example.com/', 'ftp://x/', 'x'])('refuses %s', (url) =>
    expect(production.checkUrl(url)).toEqual({ ok: false, reason: expect.any(String) }));

  it('outside production takes local ones, and still neither credentials nor other schemes', () => {
    expect(development.checkUrl('http://localhost:8080/')).toMatchObject({ ok: true });
    expect(development.checkUrl('http://u:p@localhost/')).toMatchObject({ ok: false });
    expect(development.checkUrl('file:///x')).toMatchObject({ ok: false });
  });
});

describe('outside production', () => {
  it.each(['http://169.254.169.254/latest/meta-data', 'http://2852039166/', 'http://[::ffff:169.254.169.254]/', 'http://[fe80::1]/'])(
    '%s is refused all the same',
    (url) => {
      expect(development.checkUrl(url).ok).toBe(false);
    },
  );

  it('a name that leads there is not called', async () => {
    const metadata = new OutboundGuard({ production: false, allow: [] }, async () => [{ address: '169.254.169.254', family: 4 }]);
    const outcome = await metadata.fetch('http://innocent.example/', { method: 'GET', maxBytes: 1_000, timeoutMs: 1_000 });
    expect(outcome).toMatchObject({ kind: 'unreachable', code: 'UNSAFE_URL' });
  });
});
