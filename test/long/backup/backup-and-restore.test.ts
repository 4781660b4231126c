import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { statSync } from 'node:fs';
import { aBackupPlace, backupOf, restored, sumsIn, type BackupPlace } from '../../support/backup/backups.js';
import { manifestOf, unpacked } from '../../support/backup/unpacked.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { as, asRoot } from '../../support/http/actors.js';
import { allSigned } from '../../support/log/exports.js';
import { eventually } from '../../support/running/eventually.js';
import { countersign, rotateRootKey } from '../../support/servers/command-line.js';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { ROOT_KEY } from '../../support/servers/test-run.js';

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
  const work = { isOver: false, done: 0 };
  const load = (async () => {
    while (!work.isOver) {
      (await agent.client.post('/api/v1/execute', { capability: 'web.search', input: { n: work.done } })).expect(200);
      work.done++;
    }
  })();
  const before = work.done;
  const file = await backupOf(server.database.url, place);
  const after = work.done;
  work.isOver = true;
  await load;
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(after).toBeGreaterThan(before);

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
    .toEqual(['hitl_events', 'migrations', 'rate_quotas']);
  const disabled = await target.sql(`select tgname from pg_trigger where not tgisinternal and tgenabled <> 'O'`);
  expect(disabled).toEqual([]);
  expect(await target.sql('select count(*)::integer as events from hitl_events')).toEqual([{ events: 0 }]);
});

test('what was restored serves nobody until it is recovered, and then with new credentials', async () => {
  const again = await startServer({ replicaOf: { database: target }, env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  try {
    const held = await asRoot(again).get('/api/v1/agents');
    expect([held.status, held.body.detail]).toEqual([503, expect.stringContaining('restored from a backup of 20')]);
    const env = { ...place.env, DATABASE_URL: target.url, AUDIT_ANCHORS: target.anchors };
    expect(await countersign(['recover'], env)).toMatchObject({ code: 1 });
    expect(await countersign(['recover', '--accept-loss'], env)).toMatchObject({ code: 0 });
    const key = await rotateRootKey(target.url);
    const root = as(again, key);
    await eventually(async () => (await root.get('/api/v1/agents')).expect(200));
    expect((await as(again, ROOT_KEY).get('/api/v1/agents')).status).toBe(401);
    expect((await as(again, agent.token).get(`/api/v1/agents/${agent.id}`)).status).toBe(401);
    expect((await root.get(`/api/v1/hitl/${asked}`)).body).toMatchObject({ status: 'cancelled' });
    const { token } = (await root.post(`/api/v1/agents/${agent.id}/token`)).body as { token: string };
    const ran = await as(again, token).post('/api/v1/execute', { capability: 'web.search', input: {} });
    expect(ran.body).toMatchObject({ status: 'executed' });
    const verified = await countersign(['audit', 'verify', '--no-remember', '--json'], env);
    expect([verified.code, (JSON.parse(verified.stdout) as { breaksFound: number }).breaksFound]).toEqual([0, 0]);
  } finally {
    await again.stop();
  }
});

test('the file is an ordinary one of age and tar, with whole rows in its parts', async () => {
  const file = await backupOf(server.database.url, place, 'ordinary.age');
  const files = await unpacked(file, place);
  expect(Object.keys(files)).toEqual(expect.arrayContaining(['README.txt', 'secrets.json', 'manifest.json', 'tables/agents/000001.copy']));
  for (const [name, text] of Object.entries(files)) expect([name, text.at(-1)]).toEqual([name, '\n']);
  expect(Object.keys(JSON.parse(files['secrets.json']!) as object)).toEqual(['JWT_SECRET', 'ENCRYPTION_KEY', 'AUDIT_SIGNING_KEY']);
  expect(files['README.txt']).toContain('countersign restore');
});
