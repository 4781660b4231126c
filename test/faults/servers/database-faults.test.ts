import { rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { anonymous, type Reply } from '../../support/http/actors.js';
import { EXECUTE } from '../../support/http/paths.js';
import { eventually } from '../../support/running/eventually.js';
import { scrapedSeries, valueOf } from '../../support/running/scraped.js';
import { freePort } from '../../support/servers/server-process.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { adminUrl, superuserUrl } from '../../support/servers/test-run.js';
import { tableHeld } from '../../support/servers/two-servers.js';

let server: TestServer;
let agent: BuiltAgent;
let role: string;
let metricsUrl: string;

beforeAll(async () => {
  const first = await startServer();
  role = `${first.database.name}_role`;
  await administer(`create role ${role} login password 'first' in role ${new URL(adminUrl()).username}`);
  const url = new URL(first.database.url);
  Object.assign(url, { username: role, password: 'first' });
  await first.kill('SIGTERM');
  const port = await freePort();
  metricsUrl = `http://127.0.0.1:${port}`;
  const env = { DATABASE_URL: url.href, RATE_LIMIT_PRINCIPAL: '1000000', METRICS_PORT: String(port) };
  server = await startServer({ replicaOf: first, env });
  agent = await anAgent(server).granted('web.search').create();
});

afterAll(async () => {
  await server.stop();
  await server.database.drop();
  await administer(`drop role ${role}`);
});

async function administer(...statements: readonly string[]): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: superuserUrl() });
  await client.connect();
  try {
    let result!: pg.QueryResult;
    for (const statement of statements) result = await client.query(statement);
    return result;
  } finally {
    await client.end();
  }
}

const endConnections = () =>
  administer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${server.database.name}' and usename = '${role}'`);

const search = (): Promise<Reply> => agent.client.post(EXECUTE, { capability: 'web.search', input: { q: 1 } });
const ready = (): Promise<Reply> => anonymous(server).get('/health/ready');

/** The log's lines about one fault, in their order. */
const linesAbout = (fault: string): { sqlstate?: string; count: number; msg: string }[] => server.output().split('\n')
  .flatMap((line) => (line.includes(`"fault":"${fault}"`) ? [JSON.parse(line) as { count: number; msg: string }] : []));

const counted = async (fault: string) => valueOf(await scrapedSeries(metricsUrl), 'countersign_database_faults_total', { fault });

/** Log, readiness, metric and calls say the same; the log once, however often it is tried; and nothing has to be started anew. */
async function isNamed(fault: string, sqlstate: string, detail: string): Promise<void> {
  await eventually(async () => expect((await ready()).expect(503, 'UNAVAILABLE').at('detail')).toBe(detail), { every: 100 });
  for (let n = 0; n < 2; n++) expect((await search()).expect(503, 'UNAVAILABLE').at('detail')).toBe(detail);
  (await anonymous(server).get('/health/live')).expect(200);
  const lines = linesAbout(fault);
  expect(lines).toEqual([expect.objectContaining({ sqlstate, count: 1, msg: `${detail} (docs/runbooks.md#${fault})` })]);
  expect(await counted(fault)).toBeGreaterThan(0);
}

const worksAgain = () => eventually(async () => {
  (await search()).expect(200);
  (await ready()).expect(200);
}, { every: 100 });

test('a database that became read-only', async () => {
  await administer(`alter database ${server.database.name} set default_transaction_read_only = on`);
  await endConnections();
  await isNamed('read-only', '25006', 'The database cannot write: it is read-only.');
  await administer(`alter database ${server.database.name} reset default_transaction_read_only`);
  await endConnections();
  await worksAgain();
});

test('a disk that is full', async () => {
  // Its file is /dev/full: the system itself refuses whatever PostgreSQL writes there, as it does on a full disk.
  await server.database.asSuperuser('create table on_a_full_disk (at timestamptz)');
  const [where] = (await server.database.asSuperuser<{ folder: string; path: string }>(
    `select current_setting('data_directory') as folder, pg_relation_filepath('on_a_full_disk') as path`));
  await administer('checkpoint');
  const file = join(where!.folder, where!.path);
  await symlink('/dev/full', `${file}.full`);
  await rename(`${file}.full`, file);
  const fill = `create function fill_the_disk() returns trigger language plpgsql security definer as
    $$ begin insert into on_a_full_disk values (now()); return new; end $$`;
  // Small writes into pages that are there go on beside it, as on a disk that has just become full.
  const wherever = ['audit_entries', 'server_heartbeats'].map((table) => `create trigger on_a_full_disk before insert on ${table}
    for each row ${table === 'server_heartbeats' ? 'when (new.room is not null)' : ''} execute function fill_the_disk()`);
  await server.database.asSuperuser(fill, ...wherever);
  (await ready()).expect(200);
  (await search()).expect(503);
  await isNamed('disk-full', '53100', 'The database cannot write: its disk is full.');
  await server.database.asSuperuser('drop function fill_the_disk() cascade', 'drop table on_a_full_disk');
  await rm(file, { force: true });
  await worksAgain();
});

test('no connection left', async () => {
  await administer(`alter database ${server.database.name} connection limit 0`);
  await endConnections();
  await isNamed('connections-used-up', '53300', 'The database takes no more connections.');
  await administer(`alter database ${server.database.name} connection limit -1`);
  await worksAgain();
});

test('a password that was changed', async () => {
  await administer(`alter role ${role} password 'second'`);
  await endConnections();
  await isNamed('sign-in-refused', '28P01', 'The database does not let this server in.');
  await administer(`alter role ${role} password 'first'`);
  await worksAgain();
});

test('a lock that somebody holds: calls say so, and the server is ready for others', async () => {
  const held = await tableHeld(server, 'executions');
  const detail = 'Somebody holds a lock in the database for too long.';
  // Those that come while the first waits wait behind it.
  const calls = await Promise.all(Array.from({ length: 12 }, async (_, n) => {
    await pause(n * 300);
    return search();
  }));
  expect(calls.map((reply) => reply.expect(503, 'UNAVAILABLE').at('detail'))).toEqual(calls.map(() => detail));
  (await ready()).expect(200);
  expect(linesAbout('lock-held')).toEqual([expect.objectContaining({ sqlstate: '55P03', msg: expect.stringContaining(detail) })]);
  expect(await counted('lock-held')).toBeGreaterThan(0);
  await held.release();
  await worksAgain();
});

test('a lock on its signs of life: it is not ready, as nobody knows whether it can write', async () => {
  const held = await tableHeld(server, 'server_heartbeats');
  await eventually(async () => (await ready()).expect(503, 'UNAVAILABLE'), { every: 100 });
  await held.release();
  await worksAgain();
});
