import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { StoredEntry } from '../../../src/domain/audit/entry/stored-entry.js';
import type { ReadStatement } from '../../../src/platform/audit/record-keepers.js';
import { sharedEntries } from '../../../src/modules/audit/verification/source/shared-entries.query.js';
import { sqlLogSource } from '../../../src/modules/audit/verification/source/log-source.query.js';
import { openSnapshot } from '../../../src/modules/audit/query/snapshots.query.js';
import { asRoot } from '../../support/http/actors.js';
import { anAgent } from '../../support/builders/agents.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { verifiedLog } from '../../support/log/verified-log.js';

const LARGE = 200_000;
const COUNT = 80;
/** What a batch holds at most, and one entry more. */
const MOST = 4 * 1024 * 1024 + 2 * LARGE;

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
  const agent = await anAgent(server).granted('web.search').create();
  const input = { rows: Array.from({ length: LARGE / 10 }, (_, n) => n + 1_000_000) };
  for (let i = 0; i < COUNT; i++) (await agent.client.post('/api/v1/execute', { capability: 'web.search', input })).expect(200);
  // Small by itself; its entry has it as a text within a text.
  const inputSchema = { type: 'object', description: '"'.repeat(7_000) };
  (await asRoot(server).post('/api/v1/capabilities', { name: 'large.one', description: 'has a large schema', inputSchema })).expect(201);
});

afterAll(() => server.stop());

const textsIn = (rows: readonly unknown[]): number =>
  (rows as Record<string, unknown>[]).flatMap((row) => Object.values(row))
    .reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);

/** Reads entries, and tells how much came at once of the database and of the reader. */
async function read(entries: (run: ReadStatement) => AsyncIterable<readonly StoredEntry[]>) {
  const connection = await openSnapshot(server.database.url, 'countersign audit verify');
  const found: StoredEntry[] = [];
  const [answers, batches]: [number[], number[]] = [[], []];
  try {
    const run: ReadStatement = async (sql, parameters) => {
      const rows = await connection.run(sql, parameters);
      answers.push(textsIn(rows));
      return rows;
    };
    for await (const batch of entries(run)) {
      batches.push(textsIn(batch));
      found.push(...batch);
    }
  } finally {
    await connection.close();
  }
  return { found, answer: Math.max(...answers), batch: Math.max(...batches), all: batches.reduce((sum, one) => sum + one, 0) };
}

test('thousands of large entries are never in memory at once: they are read one by one, and go on in bounded batches', async () => {
  const { found, answer, batch, all } = await read((run) => sqlLogSource(run, 'all').read({}).entries);
  expect(all).toBeGreaterThan(2 * MOST);
  expect(answer).toBeLessThan(2 * LARGE);
  expect(batch).toBeLessThan(MOST);
  const rows = await server.sql<{ id: string; payload: string; disclosures: string }>(
    'select id, payload, disclosures from audit_entries order by organization_id, chain, seq');
  expect(found.map(({ id, payload, disclosures }) => ({ id, payload, disclosures }))).toEqual(rows);
});

test('so are those that many agents share', async () => {
  const shared = await read((run) => sharedEntries(run, { organizations: 'all', related: [], delegators: [] }));
  expect(shared.found.some(({ disclosures }) => disclosures.length > 7_000 * 4)).toBe(true);
});

test('and nothing is wrong with them', async () => {
  expect((await verifiedLog(server.database.url)).breaks).toEqual([]);
});
