import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../support/running/eventually.js';
import { leaders, withoutLeader } from '../../support/log/leader.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let one: TestServer;
let other: TestServer;

beforeAll(async () => {
  one = await startServer();
  await leads();
  other = await startServer({ replicaOf: one });
});
afterAll(async () => {
  await other.stop();
  await one.stop();
});

/** The connection of whoever leads, once it is one that `isIt` wants. */
function leads(isIt: (pid: number) => boolean = () => true): Promise<number> {
  return eventually(async () => {
    const found = await leaders(one.database);
    expect(found.filter(isIt)).toHaveLength(1);
    return found[0]!;
  });
}

/** Which connections each process keeps for leading: `one` first. */
async function connections(): Promise<number[]> {
  const rows = await one.sql<{ pid: number }>(`select pid from pg_stat_activity
    where datname = current_database() and application_name = 'countersign leader' order by backend_start`);
  return rows.map(({ pid }) => pid);
}

test('one of two leads; when it dies the other does, and when the connection is cut somebody does again', async () => {
  await eventually(async () => expect(await connections()).toHaveLength(2));
  const [first, second] = await connections();
  expect(await leads()).toBe(first);
  await one.kill();
  expect(await leads((pid) => pid !== first)).toBe(second);
  await one.restart();
  await one.sql('select pg_terminate_backend($1)', [second]);
  await leads((pid) => pid !== second);
  await other.assertAlive();
});

test('whoever ends gently hands the lead on', async () => {
  const before = await leads();
  await one.restart();
  await leads();
  await other.restart();
  await leads((pid) => pid !== before);
});

test('nobody leads while a test holds the lead', async () => {
  await leads();
  const during = await withoutLeader(one.database, async () => {
    await eventually(async () => expect(await connections()).toHaveLength(2));
    const [held] = await leaders(one.database);
    expect(await connections()).not.toContain(held);
    return held;
  });
  await leads((pid) => pid !== during);
});
