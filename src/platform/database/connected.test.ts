import { describe, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { StartRefused } from '../config/start-refused.js';
import { connected } from './connected.js';

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
const starting = Object.assign(new Error('the database system is starting up'), { code: '57P03' });
const slow = new Error('timeout exceeded when trying to connect');

/** Data sources of which each fails in its way, and the next connects. */
function failing(...errors: readonly Error[]) {
  const made: DataSource[] = [];
  const make = () => {
    const error = errors[made.length];
    const one = { initialize: () => (error ? Promise.reject(error) : Promise.resolve(one)) } as unknown as DataSource;
    made.push(one);
    return one;
  };
  return { make, made };
}

describe('a start', () => {
  test('waits for its database, and says so once', async () => {
    const { make, made } = failing(refused, starting, slow);
    const said: string[] = [];
    expect(await connected(make, (line) => said.push(line))).toBe(made[3]);
    const reason = 'ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:1';
    expect(said).toEqual([`the database cannot be reached (${reason}): the start waits for it, up to 30 s`]);
  });

  test.each(['28P01', '28000', '3D000'])('does not wait for a database that refuses it (%s)', async (code) => {
    const { make, made } = failing(Object.assign(new Error('no'), { code }));
    const said: string[] = [];
    await expect(connected(make, (line) => said.push(line))).rejects.toThrow(new StartRefused(
      `DATABASE_URL: the database cannot be reached (${code}: no)`,
    ));
    expect([made.length, said]).toEqual([1, []]);
  });

  test('does not wait for ever', async () => {
    const { make, made } = failing(...Array<Error>(100).fill(refused));
    await expect(connected(make, () => undefined, 300)).rejects.toThrow('DATABASE_URL: the database cannot be reached (ECONNREFUSED: ');
    expect(made.length).toBeGreaterThan(1);
  });
});
