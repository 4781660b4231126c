import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { AskedReadings } from './asked-readings.js';
import { reading } from './metrics.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const open = (value: number) => [reading('countersign_open_requests', value, {})];

test('the database is asked once in five seconds, however often somebody looks', async () => {
  let asked = 0;
  const readings = new AskedReadings(() => undefined);
  readings.add({ name: 'open', read: () => Promise.resolve(open(++asked)) });
  expect(await Promise.all([readings.now(), readings.now()])).toEqual([open(1), open(1)]);
  jest.advanceTimersByTime(4_999);
  expect(await readings.now()).toEqual(open(1));
  jest.advanceTimersByTime(1);
  expect(await readings.now()).toEqual(open(2));
});

test('a statement that hangs keeps nobody for longer than two seconds, is not sent twice, and hides what it would have told', async () => {
  let asked = 0;
  let answer: (() => void) | undefined;
  const readings = new AskedReadings(() => undefined);
  readings.add({ name: 'first', read: () => Promise.resolve([reading('countersign_parked_effects', 0, {})]) });
  readings.add({ name: 'open', read: () => new Promise((done) => { asked++; answer = () => done(open(7)); }) });
  const looking = readings.now();
  await jest.advanceTimersByTimeAsync(2_000);
  expect(await looking).toEqual([reading('countersign_parked_effects', 0, {})]);
  await jest.advanceTimersByTimeAsync(10_000);
  const again = readings.now();
  expect(asked).toBe(1);
  answer!();
  expect(await again).toContainEqual(open(7)[0]);
});

test('what fails is counted and absent, and keeps nothing else from being told', async () => {
  const failed: string[] = [];
  const readings = new AskedReadings((source) => failed.push(source));
  let isAway = false;
  readings.add({ name: 'open', read: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(open(1))) });
  readings.add({ name: 'parked', read: () => Promise.resolve([reading('countersign_parked_effects', 0, {})]) });
  expect(await readings.now()).toHaveLength(2);
  isAway = true;
  jest.advanceTimersByTime(5_000);
  expect(await readings.now()).toEqual([reading('countersign_parked_effects', 0, {})]);
  expect(failed).toEqual(['open']);
});
