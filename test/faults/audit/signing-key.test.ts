import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openCheckpoint, PLATFORM_TREE, type StoredCheckpoint } from '../../../src/domain/audit/notes/checkpoint.js';
import { waiveCheckpoint, type WaivedCheckpoint } from '../../../src/domain/audit/notes/waived-checkpoint.js';
import { readVerifierKey, signingKey, verifierKey, type VerifierKey } from '../../../src/domain/audit/notes/note.js';
import { acceptedLosses } from '../../../src/modules/audit/anchors/anchor-state.query.js';
import { checkpointsOf, instanceName, verifierKeys } from '../../../src/modules/audit/checkpoints/checkpoint.query.js';
import { anonymous, asRoot } from '../../support/http/actors.js';
import { appendPast } from '../../support/log/append-past.js';
import { anAgent } from '../../support/builders/agents.js';
import { countersign } from '../../support/servers/command-line.js';
import { verification } from '../../support/erasure/erasures.js';
import { eventually } from '../../support/running/eventually.js';
import { allSigned, download, verifyBytes } from '../../support/log/exports.js';
import { leaders } from '../../support/log/leader.js';
import { aged, archiveFolder, sweepOutcomes } from '../../support/retention/retention.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { ROOT_KEY, TEST_ENVIRONMENT } from '../../support/servers/test-run.js';
import { newestCheckpoints } from '../../support/log/tree-database.js';

const PRESENT = (JSON.parse(readFileSync('test/support/servers/environment.json', 'utf8')) as Record<string, string>).AUDIT_SIGNING_KEY!;
const folder = mkdtempSync(join(tmpdir(), 'signing-key-'));
const keyFile = join(folder, 'next');

let server: TestServer;

beforeAll(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  await asRoot(server).post('/api/v1/organizations', { name: 'idle' });
  await newSignature();
});
afterAll(() => server.stop());

const run = (sql: string, parameters: readonly unknown[]) => server.sql(sql, parameters);
const rotate = (env: Record<string, string> = {}, file = keyFile) => countersign(
  ['audit', 'rotate-key', '--new-key-file', file, '--json'],
  { DATABASE_URL: server.database.url, AUDIT_SIGNING_KEY: PRESENT, ...env });

async function newSignature(): Promise<StoredCheckpoint> {
  const before = (await checkpointsOf(run, PLATFORM_TREE, { limit: 10_000 })).length;
  await anAgent(server).create();
  return eventually(async () => {
    const found = await checkpointsOf(run, PLATFORM_TREE, { limit: 10_000 });
    expect(found.length).toBeGreaterThan(before);
    return found.at(-1)!;
  });
}

const keysNow = async () => (await verifierKeys(run)).map(({ key }) => readVerifierKey(key)!);

async function signersOf({ organizationId, note }: StoredCheckpoint, keys: readonly VerifierKey[]): Promise<string[]> {
  const opened = openCheckpoint(note, keys, `${await instanceName(run)}/${organizationId}`);
  if ('wrong' in opened) throw new Error(opened.wrong);
  return opened.by.map(({ id }) => id).sort();
}

test('another key than the one that signs vouches for none: refused, and nothing is changed', async () => {
  const outcome = await rotate({ AUDIT_SIGNING_KEY: randomBytes(32).toString('base64') });
  expect(outcome).toMatchObject({ code: 1, stdout: '' });
  expect(outcome.stderr).toMatch(/the old key is needed/i);
  expect(await keysNow()).toHaveLength(1);
  expect(statSync(keyFile).mode & 0o777).toBe(0o600);
});

test('losses that the old key accepted are accepted by the new one too, and no others', async () => {
  const instance = await instanceName(run);
  const recovered = (lost: WaivedCheckpoint) =>
    appendPast(server.database, { type: 'admin.recovered', metadata: { lost, lossAccepted: true } });
  const root = Buffer.alloc(32, 3).toString('base64');
  await recovered(waiveCheckpoint({ size: 900, root }, [signingKey(instance, PRESENT)]));
  await recovered(waiveCheckpoint({ size: 901, root }, [signingKey(instance, randomBytes(32).toString('base64'))]));
  expect(await acceptedLosses(run, instance, verifierKey(instance, PRESENT))).toEqual([{ size: 900, root }]);
  expect(await rotate({}, join(folder, 'next'))).toMatchObject({ code: 0 });
  const next = verifierKey(instance, readFileSync(keyFile, 'utf8').trim());
  expect(await acceptedLosses(run, instance, next)).toEqual([{ size: 900, root }]);
});

test('both keys have signed the newest checkpoint of every tree, and the log announces the new one', async () => {
  const [before, after] = await keysNow();
  const newest = await newestCheckpoints(run);
  expect(newest.length).toBeGreaterThan(2);
  for (const one of newest) expect(await signersOf(one, [before!, after!])).toEqual([before!.id, after!.id].sort());
  const [entry] = await server.sql<{ key: string }>(
    `select payload::json #>> '{metadata,keyId}' as key from audit_entries
     where event = 'admin.signing_key_rotated' order by seq desc limit 1`);
  expect(entry!.key).toBe(after!.text);
  const [old, fresh] = await verifierKeys(run);
  const { platformSize } = newest[0]!;
  expect([old!.retiredAtSize, fresh!.fromSize, fresh!.retiredAtSize]).toEqual([platformSize, platformSize, undefined]);
  expect((await anonymous(server).get('/api/v1/audit/keys')).expect(200).list('keys')).toEqual([after!.text, before!.text]);
  expect((await asRoot(server).get('/api/v1/audit/verify')).expect(200).at('valid')).toBe(true);
  expect(await verifies({ AUDIT_SIGNING_KEY: PRESENT })).toMatchObject({ valid: true, breaks: [] });
});

test('the server with the old key serves, and neither leads nor signs any more, and says so', async () => {
  await eventually(async () => {
    expect(server.output()).toMatch(/AUDIT_SIGNING_KEY is [0-9a-f]{8}/);
    expect(await leaders(server.database)).toEqual([]);
  });
  const before = await checkpointsOf(run, PLATFORM_TREE, { limit: 10_000 });
  await anAgent(server).create();
  expect((await anonymous(server).get('/health/ready')).expect(200).at('signingKey')).toBe('retired');
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(await checkpointsOf(run, PLATFORM_TREE, { limit: 10_000 })).toEqual(before);
  expect(await leaders(server.database)).toEqual([]);
});

test('a start with the old key is refused, one with the new key signs', async () => {
  const next = readFileSync(keyFile, 'utf8').trim();
  await expect(server.restart()).rejects.toThrow(/AUDIT_SIGNING_KEY/);
  await server.restart({ AUDIT_SIGNING_KEY: next });
  const [, after] = await keysNow();
  expect(await signersOf(await newSignature(), await keysNow())).toEqual([after!.id]);
  expect((await anonymous(server).get('/health/ready')).expect(200).at('signingKey')).toBe('current');
});

test('repeated, it changes nothing; back to a retired key it does not go', async () => {
  const next = readFileSync(keyFile, 'utf8').trim();
  expect(await rotate()).toMatchObject({ code: 0, stdout: expect.stringContaining('"already": true') });
  const old = join(folder, 'old');
  writeFileSync(old, `${PRESENT}\n`);
  const back = await rotate({ AUDIT_SIGNING_KEY: next }, old);
  expect([back.code, back.stderr]).toEqual([1, expect.stringMatching(/retired before/)]);
  await newSignature();
});

test('three rotations: valid by every verifier, by the newest key and by the first; a key of nobody has none behind it', async () => {
  for (const name of ['third', 'fourth']) {
    const present = readFileSync(join(folder, name === 'third' ? 'next' : 'third'), 'utf8').trim();
    expect(await rotate({ AUDIT_SIGNING_KEY: present }, join(folder, name))).toMatchObject({ code: 0 });
  }
  const newest = readFileSync(join(folder, 'fourth'), 'utf8').trim();
  await server.restart({ AUDIT_SIGNING_KEY: newest });
  await newSignature();
  await allSigned(server);
  expect(await keysNow()).toHaveLength(4);
  expect(await verification(server)).toMatchObject({ breaks: [], valid: true });
  for (const words of [[], ['--agent', await anyAgent()]]) {
    for (const env of [{}, { AUDIT_SIGNING_KEY: newest }, { AUDIT_SIGNING_KEY: PRESENT }] as Record<string, string>[]) {
      expect(await verifies(env, ...words)).toMatchObject({ breaks: [] });
    }
    expect(await verifies({ AUDIT_SIGNING_KEY: randomBytes(32).toString('base64') }, ...words)).toMatchObject({
      verdict: 'tampered', breaks: [{ kind: 'checkpoint_invalid', detail: expect.stringMatching(/none for which this server's key/) }],
    });
  }
  for (const query of [{}, { agent_id: await anyAgent() }] as Record<string, string>[]) {
    const file = await download(server, ROOT_KEY, '/api/v1/audit/export', query);
    expect((await verifyBytes(file.bytes)).breaks).toEqual([]);
  }
});

test('the key that signs now is enough to pin; of one agent, and of what an older one has signed, it is said which to give', async () => {
  const keys = (await keysNow()).map(({ text }) => text);
  const newest = ['--verifier-key', keys[3]!];
  // The next checkpoint covers what was just recorded a moment later.
  await eventually(async () => expect(await verifies({}, ...newest)).toMatchObject({ breaks: [], verdict: 'valid' }));
  const ofAgent = ['--agent', await anyAgent(), '--integrity'];
  expect(await verifies({}, ...keys.flatMap((key) => ['--verifier-key', key]), ...ofAgent)).toMatchObject({ breaks: [] });
  const refused = await countersign(
    ['audit', 'verify', '--no-remember', '--database-url', server.database.url, ...newest, ...ofAgent]);
  expect([refused.code, refused.stdout]).toEqual([2, '']);
  expect(refused.stderr).toContain(`give each of them, too, if you know them (${keys.slice(0, 3).join(', ')}), or verify all chains`);

  const file = join(folder, 'all.jsonl');
  writeFileSync(file, (await download(server, ROOT_KEY, '/api/v1/audit/export')).bytes);
  const old = (await checkpointsOf(run, PLATFORM_TREE, { limit: 2 })).at(-1)!.note;
  const remembered = join(folder, 'remembered.json');
  writeFileSync(remembered, JSON.stringify({ [old.slice(0, old.indexOf('\n'))]: old }));
  const ofFile = await countersign(['audit', 'verify', '--file', file, '--remember', remembered, ...newest]);
  expect([ofFile.code, ofFile.stderr]).toEqual([
    2, expect.stringMatching(/the remembered checkpoint is not signed by a known key: .+ give the one before as well/),
  ]);
  expect(await countersign(['audit', 'verify', '--file', file, '--remember', remembered, ...newest, '--verifier-key', keys[0]!]))
    .toMatchObject({ code: 0 });
});

test('it is enough also where announcements were swept', async () => {
  const AUDIT_SIGNING_KEY = readFileSync(join(folder, 'fourth'), 'utf8').trim();
  const archive = await archiveFolder();
  await aged(server.database);
  const outcomes = await sweepOutcomes(server.database, archive, 10, { AUDIT_SIGNING_KEY });
  expect(outcomes.filter((one) => 'failed' in one)).toEqual([]);
  const left = await server.sql(`select 1 from audit_entries where event = 'admin.signing_key_rotated'`);
  expect(left.length).toBeLessThan(4);
  await allSigned(server);
  expect(await verifies({}, '--verifier-key', (await keysNow()).at(-1)!.text)).toMatchObject({ breaks: [], verdict: 'valid' });
});

test('nothing is to be recovered after a rotation, by the key that signs and by one that has vouched for it', async () => {
  for (const AUDIT_SIGNING_KEY of [readFileSync(join(folder, 'fourth'), 'utf8').trim(), PRESENT]) {
    const shown = await countersign(['recover', '--json'], {
      ...TEST_ENVIRONMENT, DATABASE_URL: server.database.url, AUDIT_ANCHORS: server.database.anchors, AUDIT_SIGNING_KEY,
    });
    expect(JSON.parse(shown.stdout)).toMatchObject({ recovered: false, rewritten: [] });
  }
});

async function anyAgent(): Promise<string> {
  const [row] = await server.sql<{ chain: string }>(`select chain from audit_heads where chain like 'agt%' order by chain limit 1`);
  return row!.chain;
}

async function verifies(env: Record<string, string>, ...words: string[]): Promise<unknown> {
  const { stdout } = await countersign(
    ['audit', 'verify', '--json', '--no-remember', '--database-url', server.database.url, ...words], env);
  return JSON.parse(stdout);
}
