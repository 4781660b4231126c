import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { statSync } from 'node:fs';
import { backInService, backupUnderLoad } from '../../support/backup/backup-round.js';
import { aBackupPlace, backupOf, restored, sumsIn, type BackupPlace } from '../../support/backup/backups.js';
import { manifestOf, unpacked } from '../../support/backup/unpacked.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { allSigned } from '../../support/log/exports.js';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const INDEXES = `select tablename, indexname, indexdef from pg_indexes where schemaname = 'public' and tablename <> 'Their own'
  order by indexname`;
const CONSTRAINTS = `select conrelid::regclass::text as "table", conname, contype, convalidated, pg_get_constraintdef(oid) as definition
  from pg_constraint where connamespace = 'public'::regnamespace and conrelid::regclass::text <> '"Their own"' order by 1, 2`;

let server: TestServer;
let place: BackupPlace;
let agent: BuiltAgent;
let asked: string;
let target: TestDatabase;

beforeAll(async () => {
  place = await aBackupPlace();
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  agent = await anAgent(server).granted('web.search').granted('email:send', { hitlMode: 'propose' }).create();
  const reply = await agent.client.post('/api/v1/execute', { capability: 'email:send', input: { to: 'a\tb\\n\nc@example.com' } });
  asked = (reply.expect(202).body as { hitlRequestId: string }).hitlRequestId;
  target = await createTestDatabase('empty');
});

afterAll(async () => {
  await target?.drop();
  await server?.stop();
});

test('a database that is written to is backed up as it is at one moment, and comes back elsewhere', async () => {
  await allSigned(server);
  // Somebody's own, beside ours.
  await server.sql('create table "Their own" (id integer generated always as identity, word text)');
  const { file, meanwhile } = await backupUnderLoad(server, agent, place);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(meanwhile).toBeGreaterThan(0);

  const manifest = await manifestOf(file, place);
  const outcome = await restored(file, target.url, place);
  expect([outcome.code, outcome.stderr]).toEqual([0, '']);
  const told = JSON.parse(outcome.stdout) as Record<string, unknown>;
  expect(told).toMatchObject({ restored: true, held: true, breaksFound: 0, instance: manifest.instance });
  expect(['valid', 'valid_unanchored']).toContain(told['verdict']);

  // Only that it waits for a recovery is new.
  const sums = await sumsIn(target.url, manifest);
  const others = manifest.tables.filter(({ name, sha256 }) => sums[name] !== sha256).map(({ name }) => name);
  expect(others).toEqual(['instance']);
  const tables = await target.sql<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by relname`);
  expect(tables.map(({ name }) => name).filter((name) => !manifest.tables.some((one) => one.name === name)))
    .toEqual(['hitl_events', 'migrations', 'rate_quotas', 'server_heartbeats']);
  const disabled = await target.sql(`select tgname from pg_trigger where not tgisinternal and tgenabled <> 'O'`);
  expect(disabled).toEqual([]);
  expect(await target.sql('select count(*)::integer as events from hitl_events')).toEqual([{ events: 0 }]);
  // Indexes were made after the rows.
  for (const made of [INDEXES, CONSTRAINTS]) expect(await target.sql(made)).toEqual(await server.sql(made));
});

test('what was restored serves nobody until it is recovered, and then with new credentials', async () => {
  expect(await backInService(target, agent, place)).toEqual([]);
  const [request] = await target.sql('select status from hitl_requests where id = $1', [asked]);
  expect(request).toEqual({ status: 'cancelled' });
});

test('the file is an ordinary one of age and tar, with whole rows in its parts', async () => {
  const file = await backupOf(server.database.url, place, 'ordinary.age');
  const files = await unpacked(file, place);
  expect(Object.keys(files)).toEqual(expect.arrayContaining(['README.txt', 'secrets.json', 'manifest.json', 'tables/agents/000001.copy']));
  for (const [name, text] of Object.entries(files)) expect([name, text.at(-1)]).toEqual([name, '\n']);
  expect(Object.keys(JSON.parse(files['secrets.json']!) as object)).toEqual(['JWT_SECRET', 'ENCRYPTION_KEY', 'AUDIT_SIGNING_KEY']);
  expect(files['README.txt']).toContain('countersign restore');
});
