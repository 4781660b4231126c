import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anonymous, as, asRoot } from '../../support/http/actors.js';
import { eventually } from '../../support/running/eventually.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { withoutDatabase } from '../../support/servers/without-database.js';

let server: TestServer;

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT_ANONYMOUS: '5' } });
});
afterAll(() => server.stop());

describe('health', () => {
  test('says ok while the process serves', async () => {
    for (const path of ['/health', '/health/live']) {
      expect((await anonymous(server).get(path)).expect(200).body).toEqual({ status: 'ok' });
    }
    const ready = (await anonymous(server).get('/health/ready')).expect(200);
    expect(ready.text('status')).toBe('ready');
  });

  test('asks for no credential and looks at none', async () => {
    (await as(server, 'not-a-credential').get('/health')).expect(200);
    (await asRoot(server).get('/health')).expect(200);
    expect(await server.sql(`select id from audit_entries where event = 'auth.failed'`)).toEqual([]);
  });

  test('is exempt from rate limits', async () => {
    for (let call = 0; call < 20; call++) (await anonymous(server).get('/health')).expect(200);
    for (let call = 0; call < 20; call++) (await anonymous(server).get('/health/ready')).expect(200);
  });

  test('is not kept by caches', async () => {
    const { headers } = (await anonymous(server).get('/health/ready')).expect(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('etag')).toBeNull();
  });

  test('while the database is away: alive, not ready, and every call that needs it 503; afterwards ready by itself', async () => {
    await withoutDatabase(server, async () => {
      await eventually(async () => {
        const away = (await anonymous(server).get('/health/ready')).expect(503, 'UNAVAILABLE');
        expect(Number(away.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
        expect(away.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      });
      for (const path of ['/health', '/health/live']) (await anonymous(server).get(path)).expect(200);
      const refused = (await asRoot(server).post('/api/v1/agents', { name: 'too early' })).expect(503, 'UNAVAILABLE');
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(JSON.stringify(refused.body)).not.toMatch(/postgres|pg|sql|select|at .*\.js/i);
    });
    await eventually(async () => (await anonymous(server).get('/health/ready')).expect(200));
    (await asRoot(server).post('/api/v1/agents', { name: 'in time' })).expect(201);
  });
});
