import { createServer as createTcpServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { OutboundGuard, type Resolve } from './outbound-guard.js';
import {
  startOutbound, port, canaryPort, touched, listening, to, options, development, forgetTouches, touch,
} from '../../../test/support/http/outbound-guards.js';

startOutbound();

const HOSTS = [
  '127.0.0.1', '127.1', '127.0.1', '127.255.255.254', '2130706433', '0x7f000001', '0x7f.0x0.0x0.0x1', '0x7f.1', '0177.0.0.1',
    '0177.1', '017700000001',
  '00000177.0.0.1', '127.0.0.0x1', '127.0.0.1.', '0', '0.0.0.0', '0x0', '00', '0.0.0.0.', '①②⑦.⓪.⓪.①', '１２７.0.0.1', '127。0。0。1',
    '127．0．0．1',
  '%31%32%37.0.0.1', '127%2e0%2e0%2e1', '[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[0000:0000:0000:0000:0000:0000:0000:0001]',
    '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]', '[::ffff:0:7f00:1]', '[::127.0.0.1]', '[::7f00:1]', '[0:0:0:0:0:ffff:127.0.0.1]', '[64:ff9b::127.0.0.1]',
    '[64:ff9b::7f00:1]',
  '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2002:7f00:0001::1]', '[fe80::1]', '[fc00::1]', '[fd00:ec2::254]', '[fec0::1]',
    '[ff02::1]', '[ff0e::1]',
  '[2001::1]', '[2001:db8::1]', '[100::1]', '10.0.0.1', '10.1', '012.0.0.1', '0xa.0.0.1', '167772161', '172.16.0.1',
    '172.31.255.255', '0xac.16.0.1',
  '192.168.0.1', '192.168.1', '0xc0a80001', '3232235521', '030052000001', '169.254.169.254', '169.254.170.2', '0xa9fea9fe',
    '2852039166',
  '0251.0376.0251.0376', '169.254.43518', '[::ffff:169.254.169.254]', '[::ffff:a9fe:a9fe]', '100.100.100.200', '100.64.0.1',
    '192.0.0.192', '192.0.2.1',
  '198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.250', '240.0.0.1', '255.255.255.255', '0xffffffff',
    '168.63.129.16',
  'localhost', 'LOCALHOST', 'localhost.', 'LocalHost.', 'a.localhost', 'localhost.localdomain', 'ｌｏｃａｌｈｏｓｔ', 'loc%61lhost',
    'local\u00adhost', 'printer.local',
  'metadata.google.internal', 'metadata.google.internal.', 'db.internal', 'x.corp', 'router.lan', 'nas.home.arpa',
  // Names that a resolver sends to a private address; each resolves to the canary here.
  'localtest.test', '127.0.0.1.nip.test', 'rebind.test', 'xn--lclhst-test.test', 'sub.rebind.test.', 'REBIND.test', 'a_b.test',
    '7f000001.rbndr.test',
];
const SHAPES = [
  (host: string, at: number) => `https://${host}:${at}/`,
  (host: string, at: number) => `HTTPS://${host}:${at}/path?x=1`,
];
const BROKEN = [
  'http://example.com@127.0.0.1/', 'https://user:pw@127.0.0.1/', 'https://127.0.0.1@rebind.test/', 'https://rebind.test:x/',
    'https://', 'https:///', '//127.0.0.1/', '127.0.0.1',
  'ftp://127.0.0.1/', 'file:///etc/passwd', 'gopher://127.0.0.1:70/_x', 'dict://127.0.0.1/', 'data:text/plain,x',
    'javascript:alert(1)', 'ws://127.0.0.1/', 'unix:/var/run/docker.sock',
  'http+unix://%2Fvar%2Frun%2Fdocker.sock/', 'jar:https://127.0.0.1!/', 'https://[::1', 'https://[fe80::1%25eth0]/',
    'https://a b/', 'https://127.0.0.1:99999/', 'https://%00/', 'https://256.1.1.1/',
  'https:\\\\127.0.0.1\\', 'https://127.0.0.1\\@rebind.test/', 'http://rebind.test/', 'http://93.184.216.34/', '', ' ',
    'https://1.2.3.4.5/', '\thttps://127.0.0.1/\n',
];

describe('in production nothing private is reached', () => {
  const resolveAll: Resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  const guard = new OutboundGuard({ production: true, allow: [] }, resolveAll);
  const corpus = () => [...HOSTS.flatMap((host) => SHAPES.map((shape) => shape(host, canaryPort))), ...BROKEN];

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
