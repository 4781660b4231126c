import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { SECRETS } from '../support/backup/backups.js';
import { allSigned } from '../support/log/exports.js';
import { anAgent } from '../support/builders/agents.js';
import { countersign } from '../support/servers/command-line.js';
import { createTestDatabase } from '../support/servers/database.js';
import { startServer, type TestServer } from '../support/servers/server.js';
import { runFolder, type Environment } from '../support/servers/test-run.js';

interface Finding {
  readonly check: string;
  readonly state: string;
  readonly detail: string;
  readonly todo?: string;
}

let server: TestServer;
let env: Environment;

beforeAll(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  await anAgent(server).create();
  await allSigned(server);
  const dataDir = mkdtempSync(join(runFolder(), 'doctor-'));
  env = { DATABASE_URL: server.database.url, AUDIT_ANCHORS: server.database.anchors, DATA_DIR: dataDir, ...SECRETS };
});
afterAll(() => server?.stop());

async function findings(change: Environment, wanted: number): Promise<Record<string, Finding>> {
  const { code, stdout, stderr } = await countersign(['doctor', '--json'], { ...env, ...change });
  expect([code, stderr]).toEqual([wanted, '']);
  const { well, findings: found } = JSON.parse(stdout) as { well: boolean; findings: Finding[] };
  expect(well).toBe(wanted === 0);
  // Whatever is wrong comes with what to do.
  expect(found.filter(({ state, todo }) => state === 'wrong' && todo === undefined)).toEqual([]);
  return Object.fromEntries(found.map((one) => [one.check, one]));
}

test('nothing is wrong with an installation that serves', async () => {
  const found = await findings({}, 0);
  const states = Object.fromEntries(Object.entries(found).map(([check, { state }]) => [check, state]));
  expect(states).toEqual({
    configuration: 'well', database: 'well', clocks: 'well', migrations: 'well', installation: 'well', secrets: 'well',
    'signing key': 'well', anchor: 'well', effects: 'well', mail: 'note', provider: 'note', disk: expect.stringMatching(/well|note/),
    retention: 'note',
  });
  const { code, stdout } = await countersign(['doctor'], env);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/well +database +PostgreSQL \d+/)]);
});

test('a variable that is wrong, each by its name and never its value', async () => {
  const { code, stdout } = await countersign(['doctor'], { ...env, PORT: 'eighty', ENCRYPTION_KEY: 'short-secret' });
  expect(code).toBe(1);
  expect(stdout).toMatch(/PORT: /);
  expect(stdout).toMatch(/ENCRYPTION_KEY: /);
  expect(stdout).not.toContain('short-secret');
});

test('a database that is away, is no address, or was never set up', async () => {
  expect((await findings({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }, 2))['database']).toMatchObject({ state: 'wrong' });
  expect(await countersign(['doctor', '--database-url', 'nonsense'], env)).toMatchObject({ code: 2 });
  const empty = await createTestDatabase('empty');
  const { migrations } = await findings({ DATABASE_URL: empty.url }, 0);
  expect(migrations).toMatchObject({ state: 'note', todo: expect.stringContaining('first start') });
  await empty.drop();
});

test('how long entries, inputs and outputs are kept is asked until it is said', async () => {
  const { retention } = await findings({}, 0);
  expect(retention).toMatchObject({ state: 'note', detail: expect.stringMatching(/entries of the log and inputs.*kept for ever/) });
  const archive = { AUDIT_RETENTION_DAYS: '400', AUDIT_ARCHIVE: env.DATA_DIR! };
  expect((await findings(archive, 0))['retention']).toMatchObject({ detail: expect.stringMatching(/^inputs and outputs of calls are/) });
  expect((await findings({ ...archive, RECORDS_RETENTION_DAYS: '400' }, 0))['retention']).toMatchObject({ state: 'well' });
});

test('secrets of another installation, and missing ones', async () => {
  const { secrets } = await findings({ JWT_SECRET: 'another-secret-of-more-than-32-characters-0987' }, 1);
  expect(secrets).toMatchObject({ state: 'wrong' });
  expect((await findings({ JWT_SECRET: '' }, 1))['secrets']).toMatchObject({ todo: expect.stringContaining('set JWT_SECRET') });
});

test('mail and provider that do not answer', async () => {
  const found = await findings({ SMTP_HOST: '127.0.0.1', SMTP_PORT: '1', SMTP_FROM: 'a@example.com', OIDC_ISSUER: 'http://127.0.0.1:1',
    OIDC_CLIENT_ID: 'countersign' }, 1);
  expect(found['mail']).toMatchObject({ state: 'wrong', detail: expect.stringMatching(/ESOCKET|ECONN/) });
  expect(found['provider']).toMatchObject({ state: 'wrong' });
});

test('an archive that is not there, by its path', async () => {
  const { archive } = await findings({ AUDIT_RETENTION_DAYS: '3660', AUDIT_ARCHIVE: '/not/mounted' }, 1);
  expect(archive).toMatchObject({ state: 'wrong', detail: expect.stringContaining('/not/mounted is not there') });
});

test('maintenance mode, an older database, effects that were given up, a newer schema', async () => {
  const copy = await createTestDatabase();
  try {
    const own = { DATABASE_URL: copy.url, AUDIT_ANCHORS: copy.anchors };
    expect((await findings(own, 0))['anchor']).toMatchObject({ state: 'note' });
    const older = await findings({ DATABASE_URL: copy.url }, 1);
    expect(older['anchor']).toMatchObject({ state: 'wrong', todo: expect.stringContaining('Put the right database back') });
    await copy.asSuperuser(`update instance set held_because = 'restored: run countersign recover', held_at = now()`,
      `insert into migrations (timestamp, name) values (99991121000100, 'CreateLater99991121000100')`);
    const found = await findings(own, 1);
    expect(found['installation']).toMatchObject({ state: 'wrong', todo: expect.stringContaining('countersign recover') });
    expect(found['migrations']).toMatchObject({ state: 'wrong', detail: expect.stringContaining('CreateLater') });
  } finally {
    await copy.drop();
  }
});
