import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { StartRefused } from '../../../src/platform/config/start-refused.js';
import { createDataSource, migrate, migrateDown } from '../../../src/platform/database/data-source.js';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.js';

let database: TestDatabase;
let servers: DataSource[];

beforeAll(async () => {
  database = await createTestDatabase('empty');
  servers = [1, 2].map(() => createDataSource({ url: database.url, poolSize: 2, withoutLimits: true }));
  await Promise.all(servers.map((server) => server.initialize()));
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.destroy()));
  await database.drop();
});

test('servers that start at once migrate in turn: each migration runs once', async () => {
  await Promise.all(servers.map(migrate));
  const rows = await database.sql<{ name: string }>('select name from migrations order by id');
  expect(rows.map(({ name }) => name)).toEqual(servers[0]!.migrations.map(({ name }) => name));
});

test('a schema that a newer version has migrated is refused by the names of what this one does not know', async () => {
  await database.sql(`insert into migrations (timestamp, name) values (20990101000000, 'AddWhatIsToCome20990101000000')`);
  await expect(migrate(servers[0]!)).rejects.toThrow(new StartRefused(
    'DATABASE_URL: the schema is a newer version\'s: this one does not know AddWhatIsToCome20990101000000. '
    + 'Start the version that made it or a newer one, or go back by its `countersign migrate down`, or by a backup.'));
  await database.sql('delete from migrations where timestamp = 20990101000000');
});

test('the first schema cannot be undone, which is said by name, and with what was undone before', async () => {
  const names = servers[0]!.migrations.map(({ name }) => name!);
  const [first, before, last] = [names.at(0)!, names.at(-2)!, names.at(-1)!];
  await expect(migrateDown(servers[0]!, first)).rejects.toThrow(
    new RegExp(`^${before} cannot be undone: what it made .*restore a backup of before instead \\(undone before it: ${last}\\)$`));
  await migrate(servers[0]!);
});

test('a function that sets planner switches turns compilation off', async () => {
  const rows = await database.sql<{ name: string; settings: string[] }>(`
    select proname as name, proconfig as settings from pg_proc
    where pronamespace = 'public'::regnamespace and array_to_string(proconfig, ' ') like '%enable\\_%'`);
  expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(['gate_commit_v1', 'emit_requests_changed_v1']));
  expect(rows.filter(({ settings }) => !settings.includes('jit=off'))).toEqual([]);
});
