import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { anAgent } from '../../support/builders/agents.js';
import { blank } from '../../support/erasure/erased-by-hand.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { CHECKOUT, runFolder } from '../../support/servers/test-run.js';

interface Row {
  readonly seq: number;
  readonly payload: string;
  readonly disclosures: string;
}

let server: TestServer;
let script: string;
/** As `psql` prints them for whoever follows the document. */
let rows: readonly Row[];

beforeAll(async () => {
  server = await startServer();
  const { id, client } = await anAgent(server).granted('web.search').create();
  for (const q of ['steel', 'copper']) (await client.post('/api/v1/execute', { capability: 'web.search', input: { q } })).expect(200);
  const found = await server.sql<{ row: Row }>(
    'select row_to_json(e) as row from audit_entries e where chain = $1 order by seq', [id]);
  rows = found.map(({ row }) => row);
  const [, section] = readFileSync(join(CHECKOUT, 'docs/audit-log.md'), 'utf8').split('\n## By hand\n');
  script = join(runFolder(), 'verify-chain.mjs');
  writeFileSync(script, /^```js\n(.+?)^```$/ms.exec(section!)![1]!);
});

afterAll(() => server?.stop());

function reported(some: readonly Row[]): string {
  const input = some.map((row) => JSON.stringify(row)).join('\n');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { input, encoding: 'utf8' });
  return status === 0 ? stdout : /Error: (.*)/.exec(stderr)![1]!;
}

const last = () => rows.findLast(({ disclosures }) => disclosures.includes('copper'))!;
const withLast = (change: (row: Row) => Row) => rows.map((row) => (row === last() ? change(row) : row));

test('the script of the document takes a chain, one with blanks, and one behind a cut', () => {
  expect(reported(rows)).toMatch(new RegExp(`^${rows.length} entries from position 1 on, behind nothing, `));
  expect(reported(withLast((row) => ({ ...row, disclosures: blank(row.disclosures) })))).toContain(`${rows.length} entries`);
  expect(reported(rows.slice(2))).toMatch(/^\d+ entries from position 3 on, behind [0-9a-f]{64}, /);
});

test('the script of the document refuses one in which anything was changed', () => {
  expect(reported(withLast((row) => ({ ...row, disclosures: row.disclosures.replace('copper', 'silver') })))).toMatch(/was changed$/);
  expect(reported(withLast((row) => ({ ...row, payload: row.payload.replace('"v":1', '"v":2') })))).toMatch(/its hash is another$/);
  expect(reported(rows.filter((row) => row.seq !== 2))).toMatch(/stands at position 2$/);
  expect(reported(rows.filter((row) => row.seq !== 2).map((row, n) => ({ ...row, seq: n + 1 })))).toMatch(/does not continue/);
  expect(reported(rows.map((row) => ({ ...row, seq: row.seq + 1 })))).toMatch(/begins a chain elsewhere/);
});
