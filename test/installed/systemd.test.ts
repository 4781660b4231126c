import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/running/eventually.js';
import { createTestDatabase, type TestDatabase } from '../support/servers/database.js';
import { freePort } from '../support/servers/server-process.js';
import { CHECKOUT, runFolder, TEST_ENVIRONMENT } from '../support/servers/test-run.js';

const UNIT = readFileSync(join(CHECKOUT, 'deploy/systemd/countersign.service'), 'utf8');

/** All values of a setting, in their order. */
const settings = (name: string): string[] => [...UNIT.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value!);

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = mkdtempSync(join(runFolder(), 'systemd-'));
});
afterAll(() => database.drop());

function analyzed(...words: readonly string[]) {
  const unit = join(folder, 'countersign.service');
  // That Node.js stands where it does elsewhere is all that is put right.
  writeFileSync(unit, UNIT.replace('ExecStart=/usr/bin/node ', `ExecStart=${process.execPath} `));
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['--no-pager', ...words, unit], { encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

test('systemd has nothing to say of the unit, and finds it closed', () => {
  expect(analyzed('verify', '--man=no')).toEqual({ status: 0, said: '' });
  // Of ten, of which 9.6 is a service without any of it. Tenths, as the tool counts.
  const { status, said } = analyzed('security', '--offline=true', '--threshold=20');
  expect(said).toMatch(/Overall exposure level for countersign\.service: [01]\.\d OK/);
  expect(status).toBe(0);
});

test('what it starts, with the variables and credentials that it gives, serves, and ends within its time', async () => {
  const [port, credentials, state] = [await freePort(), join(folder, 'credentials'), join(folder, 'state')];
  for (const path of [credentials, state]) mkdirSync(path);
  const secrets: Record<string, string> = { 'database-url': database.url };
  for (const name of ['JWT_SECRET', 'ENCRYPTION_KEY', 'AUDIT_SIGNING_KEY']) {
    secrets[name.toLowerCase().replaceAll('_', '-')] = TEST_ENVIRONMENT[name]!;
  }
  const wanted = settings('LoadCredential').map((value) => value.split(':')[0]!);
  expect(wanted.toSorted()).toEqual(Object.keys(secrets).toSorted());
  for (const name of wanted) writeFileSync(join(credentials, name), `${secrets[name]}\n`);
  const assigned = settings('Environment').flatMap((line) => line.split(' ')).map((pair) => pair.split('=') as [string, string]);
  const env = {
    ...Object.fromEntries(assigned.map(([name, value]) => [name, value.replace('%d', credentials).replace('/var/lib/countersign', state)])),
    PORT: String(port), APP_URL: 'https://countersign.example',
  };
  expect(env).toMatchObject({ NODE_ENV: 'production', DATA_DIR: state, HOST: '127.0.0.1' });
  const [, ...words] = settings('ExecStart')[0]!.split(' ');
  const child = spawn(process.execPath, words, { cwd: CHECKOUT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (said += part.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  try {
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(said);
      expect((await fetch(`http://127.0.0.1:${port}/health/ready`)).status).toBe(200);
    });
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(said).toContain('the server has ended');
  } finally {
    child.kill('SIGKILL');
  }
});
