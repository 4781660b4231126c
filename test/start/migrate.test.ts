import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { anonymous } from '../support/http/actors.js';
import { countersign } from '../support/servers/command-line.js';
import { createTestDatabase, type TestDatabase } from '../support/servers/database.js';
import { startServer } from '../support/servers/server.js';

const NEWER = 'AddWhatIsToCome20990101000000';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase('empty');
});
afterAll(() => database.drop());

async function migrate(command: 'status' | 'up') {
  const { code, stdout, stderr } = await countersign(['migrate', command, '--json'], { DATABASE_URL: database.url });
  return { code, stderr, said: stdout === '' ? undefined : JSON.parse(stdout) as Record<string, unknown> };
}

test('from an empty database to a running server', async () => {
  const before = await migrate('status');
  expect(before).toMatchObject({ code: 1, said: { run: [], newer: [], servers: [] } });
  const ran = await migrate('up');
  expect(ran).toMatchObject({ code: 0, said: { ran: before.said!.missing } });
  expect(await migrate('up')).toMatchObject({ code: 0, said: { ran: [] } });

  const server = await startServer({ replicaOf: { database } });
  const version = (await anonymous(server).get('/version')).expect(200);
  const names = before.said!.missing as string[];
  expect(version.body).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+$/), schema: names.at(-1) });
  expect(await migrate('status')).toMatchObject({
    code: 0, said: { run: names, missing: [], newer: [], servers: [{ version: version.at('version'), count: 1 }] },
  });

  await server.stop();
});

test('a schema that is newer than the server', async () => {
  const server = await startServer({ replicaOf: { database } });
  await database.sql(`insert into migrations (timestamp, name) values (20990101000000, '${NEWER}')`);
  // What runs goes on, which is what an upgrade without a stop needs.
  expect((await anonymous(server).get('/version')).expect(200).at('schema')).toBe(NEWER);
  (await anonymous(server).get('/health/ready')).expect(200);
  await server.stop();
  await expect(startServer({ replicaOf: { database } })).rejects.toThrow(new RegExp(`newer version's: this one does not know ${NEWER}`));
  expect(await migrate('status')).toMatchObject({ code: 1, said: { newer: [NEWER], servers: [] } });
  expect(await migrate('up')).toMatchObject({ code: 1, stderr: expect.stringContaining(NEWER) });
  const doctor = await countersign(['doctor'], { DATABASE_URL: database.url });
  expect(doctor.stdout).toContain(`the schema is a newer version's (${NEWER})`);
});

test('without a database to reach it says so', async () => {
  const { code, stderr } = await countersign(['migrate', 'status'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('ECONNREFUSED') });
});
