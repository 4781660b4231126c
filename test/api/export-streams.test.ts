import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createWriteStream, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { agentChain } from '../../src/domain/audit/chain.js';
import { prepareEntry } from '../../src/domain/audit/entry.js';
import { newId } from '../../src/domain/ids.js';
import { APPEND_ENTRIES, entryColumns, subjectColumns } from '../../src/platform/database/chain-writer.js';
import { anAgent } from '../support/builders.js';
import { countersign } from '../support/command-line.js';
import { eventually } from '../support/eventually.js';
import { allSigned, verifierKeyOf, verifyFile } from '../support/exports.js';
import { aPerson, firstOrganization, type BuiltPerson } from '../support/people.js';
import { startServer, type TestServer } from '../support/server.js';
import { ROOT_KEY, TEST_ENVIRONMENT } from '../support/test-run.js';

jest.setTimeout(600_000);

const ENTRIES = 100_000;
const AT_ONCE = 2_000;
const MEGABYTE = 1024 * 1024;

let server: TestServer;
let folder: string;
let vkey: string;
const admins: BuiltPerson[] = [];

// A log that is larger than any buffer on the way, appended as the service appends.
beforeAll(async () => {
  // A heap that is smaller than the file: whatever is kept of what has gone by would end the server.
  server = await startServer({
    env: { AUDIT_CHECKPOINT_SECONDS: '1', NODE_OPTIONS: '--max-old-space-size=144 --max-semi-space-size=8' },
  });
  folder = mkdtempSync(join(tmpdir(), 'exports-'));
  for (let n = 0; n < 4; n++) admins.push(await aPerson(server, 'admin'));
  const organizationId = await firstOrganization(server);
  const agents = await Promise.all(Array.from({ length: 10 }, () => anAgent(server).create()));
  const note = 'n'.repeat(900);
  for (let at = 0; at < ENTRIES; at += AT_ONCE) {
    const entries = Array.from({ length: AT_ONCE }, (_, n) => {
      const { id } = agents[(at + n) % agents.length]!;
      const metadata = { executionId: newId('exec'), outcome: 'success' as const, note };
      return prepareEntry(
        { chain: agentChain(organizationId, id), agentId: id, type: 'execution.settled', capability: 'web.search', metadata },
        { id: newId('audit'), actorId: 'root', timestamp: new Date() },
      );
    });
    await server.sql(APPEND_ENTRIES, [...entryColumns(entries), ...subjectColumns(entries)]);
  }
  await allSigned(server);
  vkey = await verifierKeyOf(server);
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server?.stop();
});

/** Begins a download and hands it over unread. */
function begin(key: string, query = ''): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` };
    get(new URL(`/api/v1/audit/export${query}`, server.url), { headers, agent: false }, (response) => {
      response.on('error', () => undefined);
      resolve(response);
    }).on('error', reject);
  });
}

const connections = async () => {
  const rows = await server.sql(
    `select 1 from pg_stat_activity where datname = current_database() and application_name = 'countersign export'`);
  return rows.length;
};

const allReturned = () => eventually(async () => expect(await connections()).toBe(0), { within: 30_000 });
const residentMb = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))![1]) / 1024;

describe('an export of 100,000 entries', () => {
  test('takes no more memory than a small one, and is valid', async () => {
    const small = await begin(admins[0]!.key, '?from=2090-01-01');
    for await (const _ of small);
    await allSigned(server);
    const before = residentMb();
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, residentMb())), 50);
    const file = join(folder, 'large.jsonl');
    await pipeline(await begin(admins[0]!.key), createWriteStream(file));
    clearInterval(watch);
    expect(statSync(file).size).toBeGreaterThan(180 * MEGABYTE);
    expect(most - before).toBeLessThan(120);
    const result = await verifyFile(file, [vkey]);
    expect(result).toMatchObject({ exitCode: 0, breaks: [], verdict: 'valid' });
    expect(result.counts.entries).toBeGreaterThanOrEqual(ENTRIES);
    await allReturned();
  });

  test('waits for whoever reads nothing, without growing, and without a connection of the calls', async () => {
    const before = residentMb();
    const idle = [await begin(admins[0]!.key), await begin(admins[0]!.key), await begin(admins[1]!.key), await begin(admins[2]!.key)];
    expect(idle.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
    expect(await connections()).toBe(4);
    const calls = await Promise.all(Array.from({ length: 20 }, () => admins[3]!.client.get('/api/v1/agents')));
    expect(calls.map(({ status }) => status)).toEqual(calls.map(() => 200));
    const [own, others] = [await begin(admins[0]!.key), await begin(admins[3]!.key)];
    expect([own.statusCode, own.headers['retry-after']]).toEqual([429, '30']);
    expect([others.statusCode, others.headers['retry-after']]).toEqual([503, '30']);
    expect(residentMb() - before).toBeLessThan(100);
    // Who leaves in the middle leaves nothing behind.
    for (const one of idle) one.destroy();
    await allReturned();
    const again = await begin(admins[3]!.key, '?from=2090-01-01');
    expect(again.statusCode).toBe(200);
    again.destroy();
    await allReturned();
    await server.assertAlive();
    expect(server.output()).not.toContain('an export was not sent to its end');
  });

  test('ends with the credential of whoever reads it', async () => {
    const response = await begin(admins[1]!.key);
    await server.sql('update personal_keys set revoked_at = clock_timestamp() where id = $1', [admins[1]!.keyId]);
    await allReturned();
    const whole = pipeline(response, createWriteStream(join(folder, 'revoked.jsonl')));
    await expect(whole).rejects.toThrow();
  });
});

describe('countersign audit export', () => {
  // No .countersign of whoever runs the tests.
  const env = () => ({ DATA_DIR: join(folder, 'none') });

  test('writes from a server, under another name until it is whole', async () => {
    const out = join(folder, 'server.jsonl.gz');
    const words = ['audit', 'export', '--out', out, '--url', server.url, '--key', admins[0]!.key, '--to', '2090-01-01'];
    const { code, stderr, stdout } = await countersign(words, env());
    expect([code, stderr, stdout]).toEqual([0, '', `Written to ${out}\n`]);
    expect(await verifyFile(out, [vkey])).toMatchObject({ exitCode: 0, breaks: [] });
    expect(readdirSync(folder).filter((one) => one.includes('.part-'))).toEqual([]);
  });

  test('writes from the database, and records it', async () => {
    const out = join(folder, 'database.json');
    const words = ['audit', 'export', '--out', out, '--database-url', server.database.url];
    const unsigned = await countersign(words, env());
    expect([unsigned.code, unsigned.stderr]).toEqual([1, expect.stringContaining('AUDIT_SIGNING_KEY')]);
    const other = await countersign(words, { ...env(), AUDIT_SIGNING_KEY: Buffer.alloc(32, 1).toString('base64') });
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('not a key of this installation')]);
    expect(existsSync(out)).toBe(false);
    const key = { AUDIT_SIGNING_KEY: TEST_ENVIRONMENT['AUDIT_SIGNING_KEY']! };
    const { code, stderr } = await countersign([...words, '--organization', 'org_platform'], { ...env(), ...key });
    expect([code, stderr]).toEqual([0, '']);
    expect(await verifyFile(out, [vkey])).toMatchObject({ exitCode: 0, breaks: [] });
    const [entry] = await server.sql<{ actor_id: string; payload: string }>(
      `select actor_id, payload from audit_entries where organization_id = 'org_platform' and event = 'admin.audit_exported'
       order by id desc limit 1`);
    expect(entry!.actor_id).toBe('system');
    expect(JSON.parse(entry!.payload)).toMatchObject({ origin: { via: 'cli' }, metadata: { format: 'json' } });
  });

  test('says what it lacks, and leaves what was there as it was', async () => {
    const out = join(folder, 'kept.jsonl');
    writeFileSync(out, 'before');
    const at = ['audit', 'export', '--out', out];
    const refused: [string[], string][] = [
      [[...at, '--url', server.url], 'needs a key'],
      [[...at, '--url', server.url, '--key', 'svc_user_wrong'], '401'],
      [[...at, '--url', server.url, '--key', ROOT_KEY, '--organization', 'org_none'], '404'],
      [[...at, '--url', server.url, '--key', ROOT_KEY, '--from', 'yesterday'], '--from is no time'],
      [at, 'no server and no database'],
    ];
    for (const [words, said] of refused) {
      const { code, stderr } = await countersign(words, env());
      expect([words, code, stderr]).toEqual([words, 1, expect.stringContaining(said)]);
    }
    const away = await countersign([...at, '--url', 'http://127.0.0.1:9', '--key', ROOT_KEY], env());
    expect(away.code).toBe(2);
    expect(readFileSync(out, 'utf8')).toBe('before');
  });
});
