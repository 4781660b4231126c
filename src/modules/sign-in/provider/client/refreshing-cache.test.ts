import { beforeEach, describe, expect, it } from '@jest/globals';
import { RefreshingCache } from './refreshing-cache.js';
import { Looks } from './provider-keys.js';

let now = 0;
let reads = 0;
let failing = false;
let cache: RefreshingCache<number>;

beforeEach(() => {
  [now, reads, failing] = [0, 0, false];
  const read = async () => {
    reads++;
    await Promise.resolve();
    if (failing) throw new Error('away');
    return reads;
  };
  cache = new RefreshingCache(read, { freshMs: 600_000, usableMs: 3_600_000, onFailure: () => undefined }, () => now);
});

const retryAfter = async () => {
  try {
    await cache.get();
    return 'answered';
  } catch (error) {
    return (error as { extras: { headers: Record<string, string> } }).extras.headers['Retry-After'];
  }
};

describe('a cache of the provider', () => {
  it('is read once, however many ask, and again when it is old', async () => {
    expect(await Promise.all([cache.get(), cache.get(), cache.get()])).toEqual([1, 1, 1]);
    now = 599_999;
    expect(await cache.get()).toBe(1);
    now = 600_000;
    expect(await Promise.all([cache.get(), cache.get()])).toEqual([2, 2]);
  });

  it('is not to be had while it was never read, and asked for after 1, 2, 4 … 60 seconds', async () => {
    failing = true;
    const pauses = [1, 2, 4, 8, 16, 32, 60, 60];
    for (const [i, seconds] of pauses.entries()) {
      expect([await retryAfter(), await retryAfter(), reads]).toEqual([String(seconds), String(seconds), i + 1]);
      now += seconds * 1_000;
    }
    failing = false;
    expect(await retryAfter()).toBe('answered');
  });

  it('is used on for a while when it cannot be read again, and not for ever', async () => {
    expect(await cache.get()).toBe(1);
    [failing, now] = [true, 700_000];
    expect([await cache.get(), await cache.get(), reads]).toEqual([1, 1, 2]);
    now = 3_600_000;
    expect(await retryAfter()).toBe('2');
    failing = false;
    now += 2_000;
    expect(await cache.get()).toBe(4);
  });

  it('is read anew when somebody says so, unless that has just failed', async () => {
    await cache.get();
    await Promise.all([cache.renew(), cache.renew()]);
    expect([await cache.get(), reads]).toEqual([2, 2]);
    failing = true;
    await cache.renew();
    await cache.renew();
    expect([await cache.get(), reads]).toEqual([2, 3]);
  });
});

describe('looks for keys that nobody knows', () => {
  it('are a few at once, and then one for each span of time', () => {
    const looks = new Looks(3, 30_000, () => now);
    const taken = (times: number) => Array.from({ length: times }, () => looks.take()).filter(Boolean).length;
    expect(taken(100)).toBe(3);
    now = 29_999;
    expect(taken(100)).toBe(0);
    now = 30_000;
    expect(taken(100)).toBe(1);
    now = 90_000;
    expect(taken(100)).toBe(2);
    now = 9_000_000;
    expect(taken(100)).toBe(3);
  });
});
