import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Verifier from '../../../verifier/verify.mjs';
import { asRoot } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { countersign } from '../../support/servers/command-line.js';
import { allSigned, download, verifierKeyOf } from '../../support/log/exports.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { CHECKOUT, ROOT_KEY } from '../../support/servers/test-run.js';

// Whoever owns the database can make one cell longer than any text that a process can hold. It is never read: what it belongs to is named,
// the rest is judged and shown as ever, and nobody's server ends by it.

const { linesOf, verify } = (await import(pathToFileURL(join(CHECKOUT, 'verifier', 'verify.mjs')).href)) as typeof Verifier;

/** More than the longest string of the engine. */
const ENDLESS = 540_000_000;
/** What an index takes, since it packs it. */
const INDEXED = 150_000;

let server: TestServer;
let agent: BuiltAgent;
let key: string;

beforeAll(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' }, ownProcess: true });
  agent = await anAgent(server).granted('web.search').create();
  for (let n = 0; n < 20; n++) (await agent.client.post('/api/v1/execute', { capability: 'web.search', input: { n } })).expect(200);
  await allSigned(server);
  key = await verifierKeyOf(server);
});

afterAll(() => server.kill());

interface Named {
  readonly chain: string;
  readonly position: number;
  readonly kind: string;
  readonly detail: string;
}

const changed = (column: string, length: number, seq: number) => server.database.asSuperuser(
  'set session_replication_role = replica',
  `update audit_entries set "${column}" = repeat('x', ${length}) where chain = '${agent.id}' and seq = ${seq}`);

/** Of the entry at a position, what a verification says of it. */
const of = (breaks: readonly Named[], seq: number) =>
  breaks.filter(({ chain, position }) => chain === agent.id && position === seq).map(({ kind }) => kind);

const CELLS: readonly (readonly [column: string, length: number, kind: string])[] = [
  ['payload', ENDLESS, 'edited'], ['disclosures', ENDLESS, 'edited'], ['actor_id', ENDLESS, 'column_mismatch'],
  ['outcome', ENDLESS, 'column_mismatch'], ['hash', ENDLESS, 'edited'], ['id', INDEXED, 'column_mismatch'],
];

test('endless cells of entries are named by whoever reads them, and end nobody', async () => {
  for (const [n, [column, length]] of CELLS.entries()) await changed(column, length, 2 * n + 2);
  const wrong = CELLS.map(([, , kind], n) => [2 * n + 2, kind] as const);

  const cli = await countersign(['audit', 'verify', '--database-url', server.database.url, '--no-remember', '--json']);
  expect([cli.code, cli.stderr]).toEqual([1, expect.not.stringContaining('broke off')]);
  const reported = (JSON.parse(cli.stdout) as { breaks: Named[] }).breaks;
  for (const [seq, kind] of wrong) expect([seq, of(reported, seq)]).toEqual([seq, expect.arrayContaining([kind])]);
  expect(of(reported, 1)).toEqual([]);

  const answer = (await asRoot(server).get<{ breaks: Named[] }>('/api/v1/audit/verify')).expect(200).body;
  for (const [seq, kind] of wrong) expect([seq, of(answer.breaks, seq)]).toEqual([seq, expect.arrayContaining([kind])]);

  const { bytes } = await download(server, ROOT_KEY, '/api/v1/audit/export', { format: 'jsonl', agent_id: agent.id });
  const { breaks } = await verify(linesOf([bytes]), { keys: [key] });
  for (const [seq, kind] of wrong) expect([seq, of(breaks, seq)]).toEqual([seq, expect.arrayContaining([kind])]);

  for (const query of ['', `&agent_id=${agent.id}`]) {
    const page = (await asRoot(server).get<{ entries: { chain: string; seq: number }[] }>(`/api/v1/audit?limit=100${query}`)).expect(200);
    const seqs = page.body.entries.filter(({ chain }) => chain === agent.id).map(({ seq }) => seq);
    expect(seqs).toEqual(expect.arrayContaining(wrong.map(([seq]) => seq)));
  }
  const [endless] = await server.sql<{ id: string }>(`select id from audit_entries where chain = '${agent.id}' and seq = 2`);
  expect((await asRoot(server).get(`/api/v1/audit/${endless!.id}`)).expect(200).body).toMatchObject({ seq: 2, metadata: {} });
});

test('so are those of checkpoints and heads', async () => {
  await server.database.asSuperuser(
    'set session_replication_role = replica',
    `update audit_checkpoints set note = repeat('x', ${ENDLESS}) where ctid = (select ctid from audit_checkpoints
       where organization_id = 'platform' order by size desc limit 1)`,
    `update audit_heads set hash = repeat('x', ${ENDLESS}) where chain = '${agent.id}'`);
  const { code, stdout } = await countersign(['audit', 'verify', '--database-url', server.database.url, '--no-remember', '--json']);
  expect(code).toBe(1);
  const { breaks } = JSON.parse(stdout) as { breaks: Named[] };
  expect(breaks.some(({ kind, chain }) => kind === 'checkpoint_invalid' && chain === 'platform')).toBe(true);
  expect(breaks.some(({ chain, detail }) => chain === agent.id && detail.includes('head'))).toBe(true);
});
