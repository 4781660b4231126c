import { afterEach, expect, it, jest } from '@jest/globals';
import { Deadline } from './deadline.js';

afterEach(() => {
  jest.restoreAllMocks();
});

it.each([
  ['neither clock has moved', 0, 0, 1_000],
  ['both have', 400, 400, 600],
  ['the wall clock was set back', -5_000, 1_200, -200],
  ['the monotonic clock did not move', 1_200, 0, -200],
])('what is left, where %s', (_name, wall, monotonic, left) => {
  const [date, now] = [Date.now(), performance.now()];
  jest.spyOn(Date, 'now').mockReturnValue(date);
  jest.spyOn(performance, 'now').mockReturnValue(now);
  const deadline = Deadline.in(1_000);
  jest.spyOn(Date, 'now').mockReturnValue(date + wall);
  jest.spyOn(performance, 'now').mockReturnValue(now + monotonic);
  expect(deadline.left()).toBeCloseTo(left, 3);
  expect(deadline.at).toEqual(new Date(date + 1_000));
});
