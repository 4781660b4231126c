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

test('back to an earlier migration, where nothing is lost and no server runs', async () => {
  const fresh = await createTestDatabase('empty');
  const at = async (...words: string[]) => {
    const { code, stdout, stderr } = await countersign(['migrate', ...words, '--json'], { DATABASE_URL: fresh.url });
    return { code, stderr, said: stdout === '' ? {} : JSON.parse(stdout) as Record<string, string[]> };
  };
  try {
    const { ran } = (await at('up')).said;
    const [first, before, last] = [ran!.at(0)!, ran!.at(-2)!, ran!.at(-1)!];
    expect(await at('down', '--to', last)).toMatchObject({ code: 0, said: { undone: [] } });
    expect(await at('down', '--to', before)).toMatchObject({ code: 0, said: { undone: [last] } });
    expect(await at('status')).toMatchObject({ code: 1, said: { missing: [last] } });
    const refused = async (to: string, why: RegExp) =>
      expect(await at('down', '--to', to)).toMatchObject({ code: 1, stderr: expect.stringMatching(why) });
    await refused(first, new RegExp(`${before} cannot be undone: what it made .*nothing was undone`));
    await refused('NoSuch1', /NoSuch1 is none of the migrations/);
    const server = await startServer({ replicaOf: { database: fresh } });
    await refused(before, /servers run on this schema \(1 of \d/);
    await server.stop();
    await refused(before, new RegExp(`${last} cannot be undone: a server has made`));
    expect(await at('status')).toMatchObject({ code: 0, said: { run: ran } });
  } finally {
    await fresh.drop();
  }
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
