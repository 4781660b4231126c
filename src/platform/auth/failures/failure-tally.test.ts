import { describe, expect, it } from '@jest/globals';
import { type Failure, FailureTally, networkOf } from './failure-tally.js';

const LIMITS = { windowMs: 60_000, addresses: 3, networks: 2 };
const at = (address: string | undefined, reason = 'unknown_credential', method = 'GET'): Failure =>
  ({ reason, method, origin: { requestId: 'request-1', via: 'rest', ...(address === undefined ? {} : { address }) } });

describe('the tally of failed authentications', () => {
  it('records the first of an address at once, and the others as one count with their own origin', () => {
    const tally = new FailureTally(LIMITS);
    expect(tally.failed(at('192.0.2.1'), 0)).toEqual({ count: 1, ...at('192.0.2.1') });
    expect(tally.failed(at('192.0.2.1'), 1)).toBeUndefined();
    expect(tally.failed(at('192.0.2.1', 'expired'), 2)).toBeUndefined();
    expect(tally.take(-1)).toEqual([]);
    expect(tally.take(0)).toEqual([{ count: 2, ...at('192.0.2.1', 'several') }]);
    expect(tally.take(Infinity)).toEqual([]);
    expect(tally.size).toBe(0);
  });

  it('a count of one reason names it, whatever the first one was', () => {
    const tally = new FailureTally(LIMITS);
    tally.failed(at('192.0.2.1', 'malformed'), 0);
    tally.failed(at('192.0.2.1', 'expired', 'POST'), 1);
    expect(tally.take(Infinity)).toEqual([{ count: 1, ...at('192.0.2.1', 'expired', 'POST') }]);
  });

  it('counts by network once enough firsts were recorded, and the networks without a failure for longest together', () => {
    const tally = new FailureTally(LIMITS);
    for (const host of [1, 2, 3]) expect(tally.failed(at(`192.0.2.${host}`), 0)).toBeDefined();
    for (const host of [4, 5]) expect(tally.failed(at(`192.0.2.${host}`), 0)).toBeUndefined();
    tally.failed(at('198.51.100.1'), 1);
    // The older network is the one that was heard of last.
    tally.failed(at('192.0.2.6'), 2);
    tally.failed(at('2001:db8:1:2::3'), 3);
    tally.failed(at('203.0.113.1'), 4);
    expect(tally.take(Infinity).map(({ count, network, origin }) => [count, network, origin.address])).toEqual([
      [1, '2001:db8:1::/48', undefined], [1, '203.0.113.0/24', undefined], [4, 'elsewhere', undefined],
    ]);
  });

  it('records firsts again in the next minute, and none while counts cannot be written', () => {
    const tally = new FailureTally(LIMITS);
    for (const host of [1, 2, 3, 4]) tally.failed(at(`192.0.2.${host}`), 0);
    expect(tally.failed(at('192.0.2.9'), 60_000, false)).toBeUndefined();
    expect(tally.failed(at('192.0.2.10'), 60_000)).toBeDefined();
  });

  it('remembers a bounded number however many come, and loses none', () => {
    const tally = new FailureTally(LIMITS);
    let recorded = 0;
    for (let i = 0; i < 10_000; i++) recorded += tally.failed(at(`10.${i % 256}.${(i >> 8) % 256}.1`), i * 100)?.count ?? 0;
    expect(tally.size).toBeLessThanOrEqual(2 * LIMITS.addresses + LIMITS.networks + 1);
    expect(recorded + tally.take(Infinity).reduce((sum, { count }) => sum + count, 0)).toBe(10_000);
  });

  it.each([
    ['192.0.2.77', '192.0.2.0/24'], ['2001:db8:1:2::3', '2001:db8:1::/48'], ['::1', '::/48'], ['2001:db8::1', '2001:db8::/48'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8::/48'], [undefined, 'elsewhere'],
  ])('%s is of %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
