import { describe, expect, test } from '@jest/globals';
import { renewalIn, retryIn } from './renewal-schedule.js';

describe('a renewal', () => {
  test.each<[string, number | undefined, number, number]>([
    ['at four fifths of the time', 600, 0.5, 480],
    ['a tenth earlier at most', 600, 0, 432],
    ['a tenth later at most, which is still in time', 600, 1, 528],
    ['not more often than twice a minute', 20, 0.5, 30],
    ['not at once for what is over already', -5, 0.5, 30],
    ['after four minutes where nobody says', undefined, 0.5, 240],
  ])('comes %s', (_, expiresIn, random, seconds) => {
    expect(renewalIn(expiresIn, random)).toBeCloseTo(seconds, 6);
  });

  test.each([[0, 5], [1, 5], [2, 10], [3, 20], [7, 320], [8, 600], [30_000, 600]])('that failed %d times waits %d s', (times, seconds) => {
    expect(retryIn(times)).toBe(seconds);
  });
});
