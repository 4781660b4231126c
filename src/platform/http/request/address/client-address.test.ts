import { describe, expect, it } from '@jest/globals';
import { canonicalAddress, clientAddress, trustedProxies } from './client-address.js';

describe('canonicalAddress', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:C000:201', '192.0.2.1'],
    ['2001:0DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::1', '::1'],
    ['::', '::'],
    ['localhost', undefined],
    ['192.0.2.256', undefined],
    ['01.2.3.4', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%s is %s', (text, wanted) => {
    expect(canonicalAddress(text)).toBe(wanted);
  });
});

describe('trustedProxies', () => {
  it('knows addresses and networks of both families', () => {
    const isTrusted = trustedProxies(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', '::ffff:172.16.0.0/108']);
    expect(['10.255.0.1', '192.0.2.7', '2001:db8:1::5', '172.31.0.1'].every(isTrusted)).toBe(true);
    expect(['11.0.0.1', '192.0.2.8', '2001:db9::1', '172.32.0.1'].some(isTrusted)).toBe(false);
  });

  it.each(['proxy.local', '10.0.0.0/33', '10.0.0.0/x', '2001:db8::/129', '10.0.0', ''])('refuses "%s"', (entry) => {
    expect(() => trustedProxies([entry])).toThrow(entry);
  });
});

describe('clientAddress', () => {
  const isTrusted = trustedProxies(['10.0.0.0/8']);
  it.each([
    ['no proxy is configured', '203.0.113.9', '198.51.100.1', trustedProxies([]), '203.0.113.9'],
    ['the peer is not a proxy of ours', '203.0.113.9', '198.51.100.1', isTrusted, '203.0.113.9'],
    ['the peer is one', '10.0.0.1', '198.51.100.1', isTrusted, '198.51.100.1'],
    ['the peer is one, seen as mapped IPv6', '::ffff:10.0.0.1', '198.51.100.1', isTrusted, '198.51.100.1'],
    ['a forged entry stands on the left', '10.0.0.1', '1.1.1.1, 198.51.100.1', isTrusted, '198.51.100.1'],
    ['two proxies of ours', '10.0.0.1', '1.1.1.1, 198.51.100.1, 10.0.0.2', isTrusted, '198.51.100.1'],
    ['only proxies of ours', '10.0.0.1', '10.0.0.3, 10.0.0.2', isTrusted, '10.0.0.3'],
    ['an entry is no address', '10.0.0.1', '198.51.100.1, nonsense', isTrusted, '10.0.0.1'],
    ['an entry is missing', '10.0.0.1', '', isTrusted, '10.0.0.1'],
    ['no header', '10.0.0.1', undefined, isTrusted, '10.0.0.1'],
    ['an entry has a port', '10.0.0.1', '198.51.100.1:443', isTrusted, '198.51.100.1'],
    ['an IPv6 entry has a port', '10.0.0.1', '[2001:DB8::1]:443', isTrusted, '2001:db8::1'],
    ['the peer is gone', undefined, '198.51.100.1', isTrusted, undefined],
  ])('when %s', (_when, peer, forwarded, trusted, wanted) => {
    expect(clientAddress(peer, forwarded, trusted)).toBe(wanted);
  });
});
