import { describe, expect, it } from '@jest/globals';
import { pauseAfter } from './next-attempt.js';

const HOUR = 3_600_000;

describe('the pause after a failed attempt', () => {
  it('doubles from five seconds to an hour', () => {
    const pauses = Array.from({ length: 14 }, (_, i) => pauseAfter({ attempts: i + 1, sinceMs: 0 }, () => 1)!);
    expect(pauses.slice(0, 4)).toEqual([5_000, 10_000, 20_000, 40_000]);
    expect(pauses.at(-1)).toBe(HOUR);
    expect(pauseAfter({ attempts: 1_000_000, sinceMs: 0 }, () => 1)).toBe(HOUR);
  });

  it('varies by a quarter', () => {
    expect(pauseAfter({ attempts: 1, sinceMs: 0 }, () => 0)).toBe(3_750);
  });

  it('is as long as the receiver asks, up to an hour', () => {
    expect(pauseAfter({ attempts: 1, sinceMs: 0, afterMs: 60_000 })).toBe(60_000);
    expect(pauseAfter({ attempts: 1, sinceMs: 0, afterMs: 100 * HOUR })).toBe(HOUR);
    expect(pauseAfter({ attempts: 3, sinceMs: 0, afterMs: 1 }, () => 1)).toBe(20_000);
  });

  it('ends after a day', () => {
    expect(pauseAfter({ attempts: 30, sinceMs: 24 * HOUR - 1 })).toBeDefined();
    expect(pauseAfter({ attempts: 1, sinceMs: 24 * HOUR })).toBeUndefined();
  });
});
