import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { anAgent } from '../support/builders/agents.js';
import { anonymous, asRoot } from '../support/http/actors.js';
import { EXECUTE } from '../support/http/paths.js';
import { startPgbouncer } from '../support/installed/pgbouncer.js';
import { eventually } from '../support/running/eventually.js';
import { createTestDatabase, type TestDatabase } from '../support/servers/database.js';
import { startServer } from '../support/servers/server.js';
import { tableHeld } from '../support/servers/two-servers.js';

let database: TestDatabase;
let pooler: Awaited<ReturnType<typeof startPgbouncer>>;

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await pooler.stop();
  await database.drop();
});

describe('in session mode', () => {
  let dataSource: DataSource;

  beforeEach(async () => {
    pooler = await startPgbouncer(database.url, 'session');
  });

  test('a server does all that it does without: calls, approvals, stops', async () => {
    const server = await startServer({ replicaOf: { database }, env: { DATABASE_URL: pooler.url } });
    const root = asRoot(server);
    const agent = await anAgent(server).granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
    await Promise.all(Array.from({ length: 40 }, async () => (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(200)));
    const asked = (await agent.client.post(EXECUTE, { capability: 'email.send' })).expect(202);
    (await root.post(`/api/v1/hitl/${asked.text('hitlRequestId')}/approve`)).expect(200);
    (await root.post('/api/v1/stops', { scope: 'agent', id: agent.id, reason: 'to see' })).expect(201);
    (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(403, 'STOPPED');
    (await anonymous(server).get('/health/ready')).expect(200);
    await server.stop();
  });

  test('a lock that is held too long is named', async () => {
    const server = await startServer({ replicaOf: { database }, env: { DATABASE_URL: pooler.url } });
    const agent = await anAgent(server).granted('web.search').create();
    const held = await tableHeld(server, 'audit_heads');
    const reply = (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(503, 'UNAVAILABLE');
    expect(reply.at('detail')).toBe('Somebody holds a lock in the database for too long.');
    await held.release();
    await eventually(async () => void (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(200));
    await server.stop();
  });

  test('limits are in force on the pool\'s connections', async () => {
    dataSource = createDataSource({ url: pooler.url, poolSize: 2, connectTimeoutMs: 10_000 });
    await dataSource.initialize();
    const runner = dataSource.createQueryRunner();
    try {
      const [limits] = (await runner.query(`select current_setting('lock_timeout') as lock,
        current_setting('statement_timeout') as statement, current_setting('idle_in_transaction_session_timeout') as idle,
        current_setting('jit') as jit`)) as unknown[];
      expect(limits).toEqual({ lock: '4s', statement: '5s', idle: '3s', jit: 'off' });
      await expect(runner.query('select pg_sleep(6)')).rejects.toMatchObject({ code: '57014' });
      await runner.query('begin');
      await pause(4_000);
      await expect(runner.query('select 1')).rejects.toThrow();
    } finally {
      await runner.release();
      await dataSource.destroy();
    }
  });
});

test.each(['transaction', 'statement'] as const)('in %s mode a start is refused, and told what to do', async (mode) => {
  pooler = await startPgbouncer(database.url, mode);
  await expect(startServer({ replicaOf: { database }, env: { DATABASE_URL: pooler.url } })).rejects.toThrow(
    /DATABASE_URL: a pooler gives connections out by transaction or statement.*Set pool_mode = session/);
});

test('and so it is for the address past a pooler, which is none', async () => {
  pooler = await startPgbouncer(database.url, 'transaction');
  await expect(startServer({ replicaOf: { database }, env: { DATABASE_LISTEN_URL: pooler.url } })).rejects.toThrow(
    /DATABASE_LISTEN_URL: a pooler gives connections out by transaction or statement/);
});
