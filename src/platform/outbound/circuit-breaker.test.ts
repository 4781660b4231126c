import { beforeEach, describe, expect, test } from '@jest/globals';
import { CircuitBreaker } from './circuit-breaker.js';

let now = 0;
let breaker: CircuitBreaker;
beforeEach(() => {
  now = 0;
  breaker = new CircuitBreaker(() => now);
});

function fail(times: number): void {
  for (let i = 0; i < times; i++) {
    expect(breaker.enter()).toBe(true);
    breaker.failed();
  }
}

describe('a breaker', () => {
  test('lets calls through until five in a row have failed', () => {
    fail(4);
    breaker.succeeded();
    fail(5);
    expect(breaker.enter()).toBe(false);
  });

  test('lets one through after a pause, and all once that one has succeeded', () => {
    fail(5);
    now = 4_999;
    expect(breaker.enter()).toBe(false);
    now = 5_000;
    expect([breaker.enter(), breaker.enter(), breaker.isOpen]).toEqual([true, false, true]);
    breaker.succeeded();
    expect([breaker.enter(), breaker.enter(), breaker.isOpen]).toEqual([true, true, false]);
  });

  test('pauses twice as long after each further failure, and a minute at most', () => {
    fail(5);
    for (const pause of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
      now += pause - 1;
      expect(breaker.enter()).toBe(false);
      now += 1;
      fail(1);
    }
  });

  test('lets another through where the one that was let through did not call', () => {
    fail(5);
    now = 5_000;
    expect(breaker.enter()).toBe(true);
    breaker.dropped();
    expect(breaker.enter()).toBe(true);
  });

  test('counts failures of calls that were under way when it opened', () => {
    expect([breaker.enter(), breaker.enter()]).toEqual([true, true]);
    fail(4);
    breaker.failed();
    breaker.failed();
    expect(breaker.enter()).toBe(false);
    now = 10_000;
    expect(breaker.enter()).toBe(true);
  });
});
