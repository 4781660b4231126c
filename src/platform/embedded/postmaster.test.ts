import { expect, test } from '@jest/globals';
import { cacheFor } from './postmaster.js';

const GIGABYTE = 2 ** 30;

test.each([
  [0, '128MB'],
  [GIGABYTE / 2, '128MB'],
  [2 * GIGABYTE, '256MB'],
  [8 * GIGABYTE - 1, '1023MB'],
  [8 * GIGABYTE, '1024MB'],
  [512 * GIGABYTE, '1024MB'],
])('of %d bytes of memory PostgreSQL gets %s for its cache', (memory, cache) => {
  expect(cacheFor(memory)).toBe(cache);
});
