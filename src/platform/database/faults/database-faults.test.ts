import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { QueryFailedError } from 'typeorm';
import { createLogger } from '../../logging/logger.js';
import { NoMetrics } from '../../metrics/metrics.js';
import { sessionClient } from '../session-client.js';
import { DatabaseFaults } from './database-faults.js';

let lines: Record<string, unknown>[];
let faults: DatabaseFaults;

beforeEach(() => {
  jest.useFakeTimers();
  lines = [];
  const stream = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  faults = new DatabaseFaults(createLogger({ logLevel: 'info' }, stream), new NoMetrics());
});
afterEach(() => void jest.useRealTimers());

const failure = (code: string) => Object.assign(new Error('could not extend file'), { code });

test('a fault that repeats is said at once, and then once a minute with how often it came', () => {
  for (let n = 0; n < 5; n++) faults.note(failure('53100'));
  expect(lines).toEqual([expect.objectContaining({ level: 'warn', fault: 'disk-full', sqlstate: '53100', count: 1 })]);
  jest.advanceTimersByTime(59_000);
  faults.note(failure('53100'));
  expect(lines).toHaveLength(1);
  jest.advanceTimersByTime(1_000);
  faults.note(failure('53100'));
  expect(lines.slice(1)).toEqual([expect.objectContaining({ sqlstate: '53100', count: 6 })]);
});

test('each kind by itself, each error once, and what is no fault of the database not at all', () => {
  const one = failure('25006');
  faults.note(one);
  faults.note(new QueryFailedError('select', [], one));
  faults.note(failure('53300'));
  for (const other of [failure('23505'), new TypeError('x'), undefined, 'text']) faults.note(other);
  expect(lines.map(({ sqlstate, count }) => [sqlstate, count])).toEqual([['25006', 1], ['53300', 1]]);
});

test('what could not be written is believed to be over once a write that was begun later has succeeded', () => {
  expect(faults.refusesWrites).toBe(false);
  faults.note(failure('55P03'));
  expect(faults.refusesWrites).toBe(false);
  const before = performance.now();
  jest.advanceTimersByTime(10);
  faults.note(failure('53100'));
  faults.wrote(before);
  expect(faults.refusesWrites).toBe(true);
  jest.advanceTimersByTime(10);
  faults.wrote(performance.now());
  expect(faults.refusesWrites).toBe(false);
});

test('a connection that ends before anybody listens is told of, and ends no server', () => {
  const heard: unknown[] = [];
  const client = new (sessionClient({}, (error) => heard.push(error)))({});
  const ended = new Error('terminating connection due to administrator command');
  client.emit('error', ended);
  expect(heard).toEqual([ended]);
});
