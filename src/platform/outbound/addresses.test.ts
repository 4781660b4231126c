import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AllowList, isNearbyAddress, isPublicAddress, parseAddress, parseRange } from './addresses.js';

const NOT_PUBLIC = [
  '0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.100.100.200', '100.127.255.255', '127.0.0.1',
    '127.255.255.254',
  '168.63.129.16', '169.254.0.1', '169.254.169.254', '169.254.170.2', '172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.0.192',
    '192.0.2.1',
  '192.88.99.1', '192.168.0.1', '192.168.255.255', '198.18.0.1', '198.19.255.255', '198.51.100.7', '203.0.113.7', '224.0.0.1',
    '239.255.255.255',
  '240.0.0.1', '255.255.255.255',
  '::', '::1', '::127.0.0.1', '::7f00:1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:169.254.169.254',
    '::ffff:0.0.0.0',
  '0:0:0:0:0:ffff:c0a8:1', '64:ff9b::127.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b::10.1.2.3', '64:ff9b:1::1', '2002:7f00:1::',
    '2002:7f00:1::1',
  '2002:a9fe:a9fe::', '2002:0a00:0001:1234::5', '2002:c0a8:101::1', '2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2001:10::1', '2001:20::1',
  '2001:db8::1', '3fff::1', '100::1', '5f00::1', 'fc00::1', 'fd00:ec2::254', 'fdff::1', 'fe80::1', 'febf::1', 'fec0::1',
    'ff02::1', 'ff0e::1',
  '4000::1', 'e000::1', '1::1',
];
const PUBLIC = [
  '1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0',
    '169.253.255.255',
  '172.15.255.255', '172.32.0.0', '192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0', '223.255.255.255',
    '168.63.129.15',
  '2606:4700:4700::1111', '2a00:1450:4001:80b::200e', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8', '2002:0808:0808::1', '2003::1',
];
const UNREADABLE = ['', 'localhost', '127.1', '0x7f.0.0.1', '0177.0.0.1', '2130706433', '127.0.0.1 ', '127.0.0.1.', '1.2.3.4.5',
  'fe80::1%eth0', '[::1]', ':::', '1::2::3', '::ffff:1.2.3', '::g'];

describe('addresses', () => {
  it.each(NOT_PUBLIC)('%s is not public', (address) => expect(isPublicAddress(address)).toBe(false));
  it.each(PUBLIC)('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));
  it.each(UNREADABLE)('%j is no address, and so not public', (text) => {
    expect(parseAddress(text)).toBeUndefined();
    expect(isPublicAddress(text)).toBe(false);
  });

  it('reads every IPv6 notation alike', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const canonical = new URL(`http://[${text}]/`).hostname.slice(1, -1);
        expect(parseAddress(text)).toEqual(parseAddress(canonical));
      }),
    );
    expect(parseAddress('1:2:3:4:5:6:7:8')!.value).toBe(0x00010002000300040005000600070008n);
  });

  it('judges an IPv4 address alike on its own and carried', () => {
    fc.assert(
      fc.property(fc.ipV4(), (text) => {
        expect(isPublicAddress(`::ffff:${text}`)).toBe(isPublicAddress(text));
        expect(isPublicAddress(`64:ff9b::${text}`)).toBe(isPublicAddress(text));
      }),
    );
  });
});

describe('the allow list', () => {
  const allowed = new AllowList(['billing.internal:8443', 'Erp.Internal', '10.1.0.0/16', '192.168.7.7:81', '[fd00::5]:82',
    'fd00:1::/32', '127.0.0.1']);

  it.each([
    ['billing.internal', '8443', true], ['billing.internal', '443', false], ['erp.internal', '443', true],
      ['x.erp.internal', '443', false],
    ['erp.internal.evil.test', '443', false],
  ] as const)('name %s:%s %s', (name, port, wanted) => expect(allowed.hasName(name, port)).toBe(wanted));

  it.each([
    ['10.1.255.255', '1', true], ['10.2.0.0', '1', false], ['192.168.7.7', '81', true], ['192.168.7.7', '80', false],
      ['fd00::5', '82', true],
    ['fd00::5', '83', false], ['fd00:1:2::3', '1', true], ['127.0.0.1', '9', true], ['127.0.0.2', '9', false],
      ['::ffff:127.0.0.1', '9', false],
    ['billing.internal', '8443', false],
  ] as const)('address %s:%s %s', (address, port, wanted) => expect(allowed.hasAddress(address, port)).toBe(wanted));

  it.each(['*.internal', 'http://x', 'a b', '10.0.0.0/33', '10.0.0.0/8:80', '', '-x'])('does not take %j', (entry) =>
    expect(() => new AllowList([entry])).toThrow(/OUTBOUND_ALLOW/));

  it('reads ranges', () => {
    expect(parseRange('10.0.0.0/8')).toMatchObject({ prefix: 8 });
    expect(parseRange('::/0')).toMatchObject({ prefix: 0 });
    expect(parseRange('10.0.0.0/8/8')).toBeUndefined();
    expect(parseRange('10.0.0.0/')).toBeUndefined();
  });
});

describe('addresses that a trial may call', () => {
  it.each([
    '127.0.0.1', '0.0.0.0', '10.1.2.3', '172.31.0.1', '192.168.1.1', '::1', '::ffff:127.0.0.1', 'fd12::1',
  ])('%s is nearby', (address) => {
    expect(isNearbyAddress(address)).toBe(true);
  });

  it.each([
    '169.254.169.254', '::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe', 'fe80::1', '100.100.100.200', '224.0.0.1', '168.63.129.16',
    '8.8.8.8',
  ])('%s is not', (address) => {
    expect(isNearbyAddress(address)).toBe(false);
  });
});
