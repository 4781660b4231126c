import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anonymous, as, asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { anAgent } from '../../support/builders/agents.js';
import { eventually } from '../../support/running/eventually.js';
import { closeRawConnections } from '../../support/http/raw-http.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { withoutDatabase } from '../../support/servers/without-database.js';

const PRINCIPAL = 40;
const ADDRESS = 16;
const LIMITS = { RATE_LIMIT_PRINCIPAL: String(PRINCIPAL), RATE_LIMIT_ANONYMOUS: String(ADDRESS) };

const WRONG_KEY = `svc_root_${'0'.repeat(64)}`;
const FORGOTTEN = 'address:192.0.2.250';
const CATALOGUE = '/api/v1/capabilities';

/** Behind a trusted proxy, so that each test may call from addresses of its own. */
let one: TestServer;
let two: TestServer;

beforeAll(async () => {
  const env = { ...LIMITS, TRUSTED_PROXIES: '127.0.0.1' };
  one = await startServer({ env });
  two = await startServer({ replicaOf: one, env });
});

afterAll(async () => {
  closeRawConnections();
  await two.stop();
  await one.stop();
});

const from = (address: string, client: Client): Client => client.with({ 'x-forwarded-for': address });

const statuses = (answers: readonly Reply[]) => answers.reduce<Record<number, number>>(
  (counts, { status }) => ({ ...counts, [status]: (counts[status] ?? 0) + 1 }), {},
);

async function repeat(times: number, call: (nth: number) => Promise<Reply>): Promise<Reply[]> {
  const answers: Reply[] = [];
  for (let nth = 0; nth < times; nth++) answers.push(await call(nth));
  return answers;
}

describe('an attack', () => {
  test('a hundred forged addresses are one, leave few entries, and lock nobody out', async () => {
    const server = await startServer({ env: LIMITS });
    try {
      const { token } = await anAgent(server).create();
      const began = Date.now();
      const guess = (nth: number) => as(server, `${WRONG_KEY.slice(0, -4)}${String(nth).padStart(4, '0')}`);
      const answers = await repeat(100, (nth) => from(`10.${nth >> 8}.${nth & 255}.1`, guess(nth)).get(CATALOGUE));
      // A slow machine sees further minutes begin.
      const windows = Math.floor((Date.now() - began) / 60_000) + 1;
      const refused = statuses(answers)[401]!;
      expect(refused).toBeGreaterThanOrEqual(ADDRESS);
      expect(refused).toBeLessThanOrEqual(windows * ADDRESS);
      expect(statuses(answers)).toEqual({ 401: refused, 429: 100 - refused });
      (await as(server, token).get(CATALOGUE)).expect(200);
      (await asRoot(server).get(CATALOGUE)).expect(200);

      await server.restart();
      const answered = await asRoot(server).get('/api/v1/audit', { query: { event: 'auth.failed', limit: 500 } });
      const failed = answered.expect(200).list('entries') as { metadata: { count: number } }[];
      expect(failed.length).toBeLessThanOrEqual(2 * windows + 1);
      expect(failed.reduce((sum, { metadata }) => sum + metadata.count, 0)).toBe(refused);
    } finally {
      await server.stop();
    }
  });
});

describe('settings', () => {
  test('0 switches a limit off, and then no answer speaks of one', async () => {
    const server = await startServer();
    try {
      const callers = [anonymous(server), as(server, WRONG_KEY), asRoot(server)];
      const answers = (await Promise.all(callers.map((client) => repeat(15, () => client.get(CATALOGUE))))).flat();
      expect(statuses(answers)).toEqual({ 200: 15, 401: 30 });
      expect(answers.filter(({ headers }) => headers.has('ratelimit') || headers.has('ratelimit-policy'))).toEqual([]);
      expect(await server.sql('select 1 from rate_quotas')).toEqual([]);
    } finally {
      await server.stop();
    }
  });
});

describe('the shared counts', () => {
  test('a row for each caller, and less than a write a call', async () => {
    const { id, client } = await anAgent(one).create();
    await repeat(10, () => client.get(CATALOGUE));
    const rows = await one.sql<{ taken: number }>('select taken from rate_quotas where subject like $1', [`agent:${id}:%`]);
    expect(rows).toHaveLength(1);
    expect(rows[0]!.taken).toBeGreaterThanOrEqual(10);
    expect(rows[0]!.taken).toBeLessThanOrEqual(14);
  });

  test('while the database is away calls are answered 401 and 503 as ever, and counted again afterwards', async () => {
    const server = await startServer({ env: LIMITS });
    try {
      await withoutDatabase(server, async () => {
        await eventually(async () => (await asRoot(server).get(CATALOGUE)).expect(503, 'UNAVAILABLE'));
        for (let nth = 0; nth < 5; nth++) {
          (await anonymous(server).get(CATALOGUE)).expect(401);
          (await asRoot(server).post('/api/v1/agents', { name: 'too early' })).expect(503, 'UNAVAILABLE');
        }
      });
      await eventually(
        async () => expect((await asRoot(server).get(CATALOGUE)).expect(200).headers.get('ratelimit')).toMatch(/^"principal"/),
        { within: 60_000 },
      );
    } finally {
      await server.stop();
    }
  });

  test('the row of whoever has not called for long is deleted', async () => {
    await one.sql(`insert into rate_quotas values ('${FORGOTTEN}', clock_timestamp() - interval '1 hour', 7)`);
    // The janitor comes once a minute, and with each start.
    await two.restart();
    await eventually(async () => expect(await one.sql('select 1 from rate_quotas where subject = $1', [FORGOTTEN])).toEqual([]), {
      within: 120_000,
    });
    expect((await one.sql('select 1 from rate_quotas')).length).toBeGreaterThan(0);
  });
});
