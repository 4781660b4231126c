import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { removeDataDirectory } from '../../../src/platform/embedded/cluster.js';
import { startEmbeddedPostgres } from '../../../src/platform/embedded/supervisor.js';
import { aBackupPlace, backupOf, type BackupPlace } from '../../support/backup/backups.js';
import { startCountersign } from '../../support/backup/killed-command.js';
import { anAgent } from '../../support/builders/agents.js';
import { allSigned } from '../../support/log/exports.js';
import { countersign } from '../../support/servers/command-line.js';
import { startServer } from '../../support/servers/server.js';
import { end, freePort, launch } from '../../start/launch.js';

let place: BackupPlace;
let file: string;
let dataDir: string;

beforeAll(async () => {
  place = await aBackupPlace();
  const server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  const { client } = await anAgent(server).granted('web.search').create();
  (await client.post('/api/v1/execute', { capability: 'web.search', input: {} })).expect(200);
  await allSigned(server);
  file = await backupOf(server.database.url, place);
  await server.stop();
  dataDir = mkdtempSync(join(tmpdir(), 'countersign-restored-'));
  chmodSync(dataDir, 0o711);
});
afterAll(() => removeDataDirectory(dataDir));

const words = () => ['restore', file, '--identity-file', place.identityFile, '--json'];

test('what is killed while it is made is no database, and the next restore makes it', async () => {
  mkdirSync(join(dataDir, 'anchors'));
  writeFileSync(join(dataDir, 'anchors', 'kept'), 'as it was');
  const command = startCountersign(words(), { DATA_DIR: dataDir });
  while (command.isRunning() && !existsSync(join(dataDir, 'restoring', 'postgres'))) await pause(5);
  command.child.kill('SIGKILL');
  await command.ended;
  expect(readdirSync(dataDir).filter((name) => /^(postgres|secrets)/.test(name))).toEqual([]);

  // As if it had been killed a moment later, when the first thing had got its place.
  renameSync(join(dataDir, 'restoring', 'secrets'), join(dataDir, 'secrets'));
  await expect(startEmbeddedPostgres({ dataDir })).rejects.toThrow(/a restore into .* broke off/);

  const { code, stdout, stderr } = await countersign(words(), { DATA_DIR: dataDir });
  expect([code, stderr]).toEqual([0, '']);
  expect(JSON.parse(stdout)).toMatchObject({ restored: true, held: true, into: dataDir, breaksFound: 0 });
  expect(readdirSync(dataDir)).toEqual(expect.arrayContaining(['anchors', 'postgres', 'secrets']));
  expect(readdirSync(dataDir)).not.toContain('restoring');
  expect(readdirSync(join(dataDir, 'anchors'))).toEqual(['kept']);
  for (const name of readdirSync(join(dataDir, 'secrets'))) expect(statSync(join(dataDir, 'secrets', name)).mode & 0o077).toBe(0);
});

test('it is held, recovered and verified by the commands, with nothing but its folder named', async () => {
  const env = { DATA_DIR: dataDir };
  const server = launch({ env: { ...env, PORT: await freePort() } });
  const url = await server.ready;
  expect(server.output()).toMatch(/runs, and serves nobody: its database is held\.[^]*countersign recover/);
  expect(server.output()).not.toMatch(/is ready|Try it/);
  expect((await fetch(`${url}/health/ready`)).status).toBe(503);
  await end(server);
  expect(await countersign(['recover'], env)).toMatchObject({ code: 1 });
  const { code, stdout } = await countersign(['recover', '--accept-loss', '--json'], env);
  expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ recovered: true })]);
  const doctor = await countersign(['doctor', '--json'], env);
  expect([doctor.code, JSON.parse(doctor.stdout)]).toEqual([0, expect.objectContaining({ well: true })]);
});

test('and backed up itself, by a passphrase; a folder with a database in it takes no other', async () => {
  const passphraseFile = join(place.folder, 'words');
  writeFileSync(passphraseFile, 'correct horse battery staple\n');
  const again = join(place.folder, 'again.age');
  const backup = await countersign(['backup', '--out', again, '--passphrase-file', passphraseFile], { DATA_DIR: dataDir });
  expect([backup.code, backup.stderr]).toEqual([0, expect.stringContaining('rows of')]);
  expect(await countersign(['restore', again, '--passphrase-file', passphraseFile, '--check'], {})).toMatchObject({ code: 0 });
  expect(await countersign(words(), { DATA_DIR: dataDir }))
    .toMatchObject({ code: 1, stderr: expect.stringContaining('holds a database or its secrets already') });
});
