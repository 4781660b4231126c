import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { aBackupPlace, backupOf, restored, SECRETS } from '../../support/backup/backups.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { anonymous, as } from '../../support/http/actors.js';
import { allSigned } from '../../support/log/exports.js';
import { eventually } from '../../support/running/eventually.js';
import { countersign, rotateRootKey } from '../../support/servers/command-line.js';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { freePort } from '../../support/servers/server-process.js';
import { CHECKOUT, runFolder, type Environment } from '../../support/servers/test-run.js';

let production: TestServer;
let agent: BuiltAgent;
let copy: TestDatabase;
let folder: string;
/** What the installation's own commands have, memory of verifications included. */
let env: Environment;
/** The same on a machine for rehearsals, but for the database. */
let rehearsal: Environment;
let anchors: string;
let anchorsCopy: string;

beforeAll(async () => {
  folder = mkdtempSync(join(runFolder(), 'rehearsal-'));
  production = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  agent = await anAgent(production).granted('web.search').create();
  const HOME = join(folder, 'home');
  mkdirSync(HOME);
  const { url, anchors: AUDIT_ANCHORS } = production.database;
  env = { ...SECRETS, HOME, DATA_DIR: join(folder, 'none'), DATABASE_URL: url, AUDIT_ANCHORS };
  anchors = production.database.anchors.slice('file:'.length);
  anchorsCopy = join(folder, 'anchors-copy');

  copy = await createTestDatabase('empty');
  rehearsal = { ...env, DATABASE_URL: copy.url };
  const place = await aBackupPlace();
  const file = await backupOf(production.database.url, place);
  await executed(3);
  expect(await verdict(env)).toEqual([0, 'valid']);
  cpSync(anchors, anchorsCopy, { recursive: true });
  expect((await restored(file, copy.url, place)).code).toBe(0);
});

afterAll(async () => {
  await copy?.drop();
  await production?.stop();
});

/** Calls, until they stand at the anchor. */
async function executed(calls: number): Promise<void> {
  for (let n = 0; n < calls; n++) (await agent.client.post('/api/v1/execute', { capability: 'web.search', input: { n } })).expect(200);
  await allSigned(production);
  const [row] = await production.sql<{ size: string }>(
    `select max(size) as size from audit_checkpoints where organization_id = 'platform'`);
  await eventually(() => {
    const lines = filesIn(anchors).flatMap((name) => readFileSync(join(anchors, name), 'utf8').trimEnd().split('\n'));
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ size: Number(row!.size) });
  });
}

async function verdict(variables: Environment, ...more: readonly string[]): Promise<[number | null, string]> {
  const { code, stdout } = await countersign(['audit', 'verify', '--json', ...more], variables);
  return [code, (JSON.parse(stdout) as { verdict: string }).verdict];
}

function filesIn(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(root, name)).isFile()).sort();
}

function sumsOf(root: string): string[] {
  return filesIn(root).map((name) => `${name} ${createHash('sha256').update(readFileSync(join(root, name))).digest('hex')}`);
}

/** `countersign start` with the installation's settings, until `work` is done. */
async function rehearsed(work: (url: string) => Promise<void>): Promise<void> {
  const port = String(await freePort());
  const child = spawn(process.execPath, [join(CHECKOUT, 'bin/countersign.mjs'), 'start', '--anchors-copy', anchorsCopy], {
    cwd: CHECKOUT, stdio: 'ignore',
    env: { PATH: process.env.PATH, NODE_ENV: 'test', ...rehearsal, PORT: port, AUDIT_CHECKPOINT_SECONDS: '1', LOG_LEVEL: 'silent' },
  });
  const gone = new Promise((resolve) => child.once('close', resolve));
  try {
    await work(`http://127.0.0.1:${port}`);
  } finally {
    child.kill('SIGTERM');
    await gone;
  }
}

test('a restored copy is verified, recovered, served and written to, and the installation neither loses nor notices anything', async () => {
  const before = { anchors: sumsOf(anchors), home: sumsOf(env.HOME!) };
  const withCopy = ['--anchors-copy', anchorsCopy];

  // The copy of the anchors is younger than the backup: that much would be lost.
  expect(await verdict(rehearsal, ...withCopy)).toEqual([1, 'tampered']);
  const shown = await countersign(['recover', ...withCopy], rehearsal);
  expect([shown.code, shown.stdout]).toEqual([1, expect.stringContaining('has a checkpoint of')]);
  expect((await countersign(['recover', '--accept-loss', ...withCopy], rehearsal)).code).toBe(0);
  const key = await rotateRootKey(copy.url);
  await rehearsed(async (url) => {
    const root = as({ url } as TestServer, key);
    const issued = await eventually(async () => (await root.post(`/api/v1/agents/${agent.id}/token`)).expect(200));
    const call = { capability: 'web.search', input: { rehearsal: true } };
    (await as({ url } as TestServer, issued.text('token')).post('/api/v1/execute', call)).expect(200);
    await allSigned({ ...production, sql: copy.sql } as TestServer);
  });
  expect(await verdict(rehearsal, ...withCopy)).toEqual([0, 'valid']);
  expect(existsSync(join(anchorsCopy, 'remembered.json'))).toBe(true);

  expect(sumsOf(anchors)).toEqual(before.anchors);
  expect(sumsOf(env.HOME!)).toEqual(before.home);
  expect(await verdict(env)).toEqual([0, 'valid']);
  await executed(1);
  (await anonymous(production).get('/health/ready')).expect(200);
  expect(await verdict(env)).toEqual([0, 'valid']);
});

test('the folder that the installation writes, or one in or around it, is no copy of it', async () => {
  const [instance] = readdirSync(anchors);
  for (const given of [anchors, join(anchors, instance!), join(anchors, '..')]) {
    for (const words of [['audit', 'verify'], ['recover', '--accept-loss'], ['start']]) {
      const { code, stderr } = await countersign([...words, '--anchors-copy', given], rehearsal);
      expect([code, stderr]).toEqual([2, expect.stringContaining('is no copy: it is where AUDIT_ANCHORS keeps its checkpoints')]);
    }
  }
  const { code, stderr } = await countersign(['audit', 'verify', '--anchors-copy', join(folder, 'nowhere')], rehearsal);
  expect([code, stderr]).toEqual([2, expect.stringContaining('is no folder: copy that of AUDIT_ANCHORS there first')]);
});
