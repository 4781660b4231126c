import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { manyWaiters } from '../../support/http/many-waiters.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const POOL = 5;
const COUNT = 500;

let here: TestServer;
let there: TestServer;

beforeAll(async () => {
  const env = { DATABASE_POOL_SIZE: String(POOL) };
  here = await startServer({ env });
  there = await startServer({ replicaOf: here, env });
});
afterAll(async () => {
  await there.stop();
  await here.stop();
});

test(`${COUNT} wait on a pool of ${POOL} and hold none of it; news wake all of them; whose token ended hears none`, async () => {
  const { held, told, shutOut, faults } = await manyWaiters(here, there, COUNT, POOL);
  expect(faults).toEqual([]);
  expect({ held, told, shutOut }).toEqual({ held: COUNT, told: COUNT - 60, shutOut: 60 });
});
