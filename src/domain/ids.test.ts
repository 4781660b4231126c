import { describe, expect, test } from '@jest/globals';
import { firstIdAt, newId } from './ids.js';

const NOON = Date.parse('2026-11-24T12:00:00.000Z');
const made = (count: number, at: number) => Array.from({ length: count }, () => newId('audit', at));

describe('ids sort as they were made', () => {
  test('however many there are in one millisecond', () => {
    const ids = made(5_000, NOON);
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(5_000);
  });

  test('and where the clock is set back by less than a second', () => {
    const ids = [...made(300, NOON + 60_000), ...made(300, NOON + 59_500), ...made(300, NOON + 60_001)];
    expect(ids).toEqual([...ids].sort());
  });

  test('but a time that is asked for is in the id', () => {
    newId('audit', NOON + 120_000);
    const [early] = made(1, NOON - 86_400_000);
    expect(early! >= firstIdAt('audit', NOON - 86_400_000)).toBe(true);
    expect(early! < firstIdAt('audit', NOON - 86_399_999)).toBe(true);
  });

  test('and comes before every time that no id can express', () => {
    const [one] = made(1, NOON);
    for (const year of [2100, 2110, 2999, 9999]) expect(one! < firstIdAt('audit', Date.UTC(year, 0))).toBe(true);
  });
});
