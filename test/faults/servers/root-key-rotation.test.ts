import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { as, type Reply } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { countersign, rotateRootKey } from '../../support/servers/command-line.js';
import { createTestDatabase } from '../../support/servers/database.js';
import { proxyTo, type DatabaseProxy } from '../../support/servers/database-proxy.js';
import { aPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { ROOT_KEY } from '../../support/servers/test-run.js';

const KEY = /svc_root_[0-9a-f]{64}/;

let server: TestServer;
let replica: TestServer;
let line: DatabaseProxy;
let agent: BuiltAgent;
let folder: string;
/** The root key of the moment: each test that rotates leaves the new one here. */
let key = ROOT_KEY;

beforeAll(async () => {
  server = await startServer();
  line = await proxyTo(server.database.url);
  replica = await startServer({ replicaOf: server, env: { DATABASE_URL: line.url } });
  agent = await anAgent(server).granted('web.search').create();
  folder = mkdtempSync(join(tmpdir(), 'countersign-key-'));
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await replica.stop();
  await server.stop();
  await line.close();
});

const status = async (at: TestServer, credential: string): Promise<number> => (await as(at, credential).get('/api/v1/agents')).status;
const storedHash = async () => (await server.sql<{ hash: string }>('select root_key_hash as hash from instance'))[0]!.hash;

async function changed(hash: string): Promise<void> {
  while ((await storedHash()) === hash) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('countersign key rotate', () => {
  test('shows a new key once; the old one is dead on every server, without a restart', async () => {
    const { code, stdout, stderr } = await countersign(['key', 'rotate'], { DATABASE_URL: server.database.url });
    expect([code, stderr]).toEqual([0, '']);
    const fresh = KEY.exec(stdout)![0];
    expect(stdout.match(new RegExp(KEY, 'g'))).toEqual([fresh]);
    for (const at of [server, replica]) {
      expect([await status(at, key), await status(at, fresh)]).toEqual([401, 200]);
      expect((await as(at, 'none').with({ authorization: '' }).get('/api/v1/agents')).status).toBe(401);
    }
    key = fresh;
  });

  test('needs the database and no key, by option too; the key stands nowhere but in the answer', async () => {
    const { code, stdout } = await countersign(['key', 'rotate', '--json', '--database-url', server.database.url]);
    expect(code).toBe(0);
    const made = JSON.parse(stdout) as { rootKey: string; keyId: string; rotatedAt: string };
    expect(await storedHash()).toMatch(new RegExp(`^${made.keyId}`));
    expect([await status(server, key), await status(server, made.rootKey)]).toEqual([401, 200]);
    key = made.rootKey;
    const rows = await server.sql<{ text: string }>(
      `select string_agg(e::text, ' ') || (select i::text from instance i) as text from audit_entries e
       where organization_id = 'org_platform'`);
    expect(rows[0]!.text).not.toContain(made.rootKey);
    expect(server.output() + replica.output()).not.toContain(made.rootKey);
  });

  test('is an entry of the platform: by nobody whose credential was verified, through the command line', async () => {
    const found = (await as(server, key).get('/api/v1/audit', { query: { event: 'admin.key_rotated' } })).expect(200);
    expect(found.number('total')).toBe(2);
    const keyId = (await storedHash()).slice(0, 16);
    expect(found.at('entries.0')).toMatchObject({ actorId: 'system', outcome: 'success', metadata: { keyId } });
    const [row] = await server.sql<{ via: string }>(
      `select payload::json #>> '{origin,via}' as via from audit_entries where event = 'admin.key_rotated' limit 1`);
    expect(row!.via).toBe('cli');
    expect((await as(server, key).get('/api/v1/audit/verify')).expect(200).at('valid')).toBe(true);
  });

  test('ROOT_API_KEY with the old key does not bring it back', async () => {
    const old = key;
    key = await rotateRootKey(server.database.url);
    await server.restart({ ROOT_API_KEY: old });
    expect([await status(server, old), await status(server, ROOT_KEY), await status(server, key)]).toEqual([401, 401, 200]);
  });

  test('ROOT_KEY_FILE takes the key, for its owner alone, and nothing shows it', async () => {
    const file = join(folder, 'root-key');
    writeFileSync(file, 'an older key\n', { mode: 0o644 });
    for (const words of [['key', 'rotate'], ['key', 'rotate', '--json']]) {
      const { code, stdout, stderr } = await countersign(words, { DATABASE_URL: server.database.url, ROOT_KEY_FILE: file });
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).not.toMatch(KEY);
      expect(stdout).toContain(file);
      key = readFileSync(file, 'utf8').trim();
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(await status(replica, key)).toBe(200);
    }
  });
});

describe('what stands in the way is said, and changes nothing', () => {
  test('a place for the key that is none: 1', async () => {
    const before = await storedHash();
    const env = { DATABASE_URL: server.database.url, ROOT_KEY_FILE: join(folder, 'nowhere', 'key') };
    const { code, stderr } = await countersign(['key', 'rotate'], env);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/ROOT_KEY_FILE: .* cannot be written/)]);
    expect(await storedHash()).toBe(before);
  });

  test('a database that was never set up: 1', async () => {
    const empty = await createTestDatabase('empty');
    try {
      const { code, stdout, stderr } = await countersign(['key', 'rotate', '--json'], { DATABASE_URL: empty.url });
      expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(/never set up: start the server/)]);
      expect(await empty.sql(`select 1 from information_schema.tables where table_schema = 'public'`)).toEqual([]);
    } finally {
      await empty.drop();
    }
  });

  test('no database there, none named, or words it does not know: 2', async () => {
    const away = await countersign(['key', 'rotate'], { DATABASE_URL: 'postgres://who:secret-word@127.0.0.1:1/none' });
    expect([away.code, away.stdout]).toEqual([2, '']);
    expect(away.stderr).toMatch(/ECONNREFUSED/);
    expect(away.stderr).not.toContain('secret-word');
    const dataDir = join(folder, 'no-data');
    const none = await countersign(['key', 'rotate'], { DATA_DIR: dataDir });
    expect([none.code, none.stdout]).toEqual([2, '']);
    expect(none.stderr).toMatch(/no database/);
    expect(existsSync(dataDir)).toBe(false);
    for (const words of [['key'], ['key', 'rotate', '--now'], ['key', 'turn'], ['key', 'rotate', '--database-url']]) {
      expect([words, (await countersign(words)).code]).toEqual([words, 2]);
    }
  });
});

describe('what the old key had begun', () => {
  const execute = () => as(replica, key).post<{ status: unknown }>('/api/v1/execute', { capability: 'web.search', agentId: agent.id });
  const started = async () =>
    (await server.sql(`select 1 from audit_entries where chain = $1 and event = 'execution.started'`, [agent.id])).length;

  test('decided before the rotation, committed after it: 401, and nothing begins', async () => {
    const before = await started();
    const hash = await storedHash();
    const rotated = rotateRootKey(server.database.url);
    const { held, release } = line.hold('gate-commit-');
    const call = execute();
    await held;
    await changed(hash);
    release();
    key = await rotated;
    // 503 where the machine is so busy that the time for deciding was over before the key was.
    expect([401, 503]).toContain((await call).status);
    expect(await started()).toBe(before);
    expect((await execute()).expect(200).body.status).toBe('executed');
  });

  test('the command ends when nothing of it can commit any more', async () => {
    const old = key;
    const hash = await storedHash();
    const { held, release } = line.hold('UPDATE "agents"');
    const order: string[] = [];
    // Past its guard, its locks and the comparison of its key; its last statements are on their way.
    const call: Promise<Reply> = as(replica, old).patch(`/api/v1/agents/${agent.id}`, { description: 'the last word' });
    const answered = call.then((reply) => void order.push(`answered ${reply.status}`));
    await held;
    const rotated = rotateRootKey(server.database.url).then((fresh) => {
      order.push('rotated');
      key = fresh;
    });
    await changed(hash);
    expect(order).not.toContain('rotated');
    expect(await status(replica, old)).toBe(401);
    release();
    await Promise.all([answered, rotated]);
    const [row] = await server.sql<{ description: string | null; change: Date; rotation: Date }>(
      `select a.description, a.updated_at as change, i.root_key_created_at as rotation from agents a, instance i where a.id = $1`,
      [agent.id]);
    // On a busy machine the rotation may find the call silent for so long that it ends its transaction: then nothing of it counts.
    if (order.includes('answered 503')) expect(row!.description).not.toBe('the last word');
    else {
      expect(order.toSorted()).toEqual(['answered 200', 'rotated']);
      expect(row).toMatchObject({ description: 'the last word' });
      expect(row!.change.getTime()).toBeLessThanOrEqual(row!.rotation.getTime());
    }
  });
});

describe('a repeated call whose key is revoked between its guard and its claim of the Idempotency-Key', () => {
  test('gets 401, not the kept answer', async () => {
    const { id, keyId, key: theirs } = await aPerson(server, 'admin');
    const keyed = as(replica, theirs).with({ 'idempotency-key': 'once' });
    const register = () => keyed.post('/api/v1/agents', { name: 'registered once' });
    (await register()).expect(201);
    (await register()).expect(201);
    const { held, release } = line.hold('hashtextextended($1, 4712)');
    const again = register();
    await held;
    (await as(server, key).delete(`/api/v1/users/${id}/keys/${keyId}`).finally(release)).expect(204);
    (await again).expect(401, 'UNAUTHENTICATED');
  });
});
