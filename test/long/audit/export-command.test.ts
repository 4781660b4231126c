import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anAgent } from '../../support/builders/agents.js';
import { countersign } from '../../support/servers/command-line.js';
import { allSigned, verifierKeyOf, verifyFile } from '../../support/log/exports.js';
import { aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { ROOT_KEY, TEST_ENVIRONMENT } from '../../support/servers/test-run.js';

let server: TestServer;
let folder: string;
let vkey: string;
let admin: BuiltPerson;

beforeAll(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  folder = mkdtempSync(join(tmpdir(), 'exports-'));
  admin = await aPerson(server, 'admin');
  const { client } = await anAgent(server).granted('web.search').create();
  for (let n = 0; n < 20; n++) (await client.post('/api/v1/execute', { capability: 'web.search', input: { n } })).expect(200);
  await allSigned(server);
  vkey = await verifierKeyOf(server);
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server?.stop();
});

describe('countersign audit export', () => {
  // No .countersign of whoever runs the tests.
  const env = () => ({ DATA_DIR: join(folder, 'none') });

  test('writes from a server, under another name until it is whole', async () => {
    const out = join(folder, 'server.jsonl.gz');
    const words = ['audit', 'export', '--out', out, '--url', server.url, '--to', '2090-01-01'];
    const { code, stderr, stdout } = await countersign(words, { ...env(), COUNTERSIGN_KEY: admin.key });
    const reported = `countersign audit export: reads the export of ${server.url} (--url)\n`;
    expect([code, stderr, stdout]).toEqual([0, reported, `Written to ${out}\n`]);
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
    expect([code, stderr]).toEqual([0, expect.stringContaining('(--database-url)')]);
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
    const database = [...at, '--database-url', server.database.url];
    const refused: [string[], number, string][] = [
      [[...at, '--url', server.url], 2, 'give --key-file or COUNTERSIGN_KEY'],
      [[...at, '--url', server.url, '--key', 'svc_user_wrong'], 1, '401'],
      [[...at, '--url', server.url, '--key', ROOT_KEY, '--organization', 'org_none'], 1, '404'],
      [[...at, '--url', server.url, '--key', ROOT_KEY, '--from', 'yesterday'], 2, '--from is no time'],
      [[...at, '--url', server.url, '--key', ROOT_KEY, '--from', '2026-02-02', '--to', '2026-02-01'], 2, '--from is later than --to'],
      [[...database, '--from', '2026-02-02', '--to', '2026-02-01'], 2, '--from is later than --to'],
      [[...database, '--since', '1'], 1, '--since: Each organization has a tree of its own: name one with --organization'],
      [[...database, '--organization', 'org_platform', '--since', '99999999'], 1, '--since: The newest checkpoint is of '],
      [[...database, '--platform-since', '99999999'], 1, '--platform-since: The newest checkpoint is of '],
      [at, 2, 'no server and no database'],
    ];
    const key = { AUDIT_SIGNING_KEY: TEST_ENVIRONMENT['AUDIT_SIGNING_KEY']! };
    for (const [words, exit, said] of refused) {
      const { code, stderr } = await countersign(words, { ...env(), ...key });
      expect([words, code, stderr]).toEqual([words, exit, expect.stringContaining(said)]);
    }
    const away = await countersign([...at, '--url', 'http://127.0.0.1:9', '--key', ROOT_KEY], env());
    expect(away.code).toBe(2);
    expect(readFileSync(out, 'utf8')).toBe('before');
  });
});
