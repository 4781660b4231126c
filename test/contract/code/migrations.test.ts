import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { IndexAudit20261123000300 } from '../../../migrations/20261123000300-index-audit.js';
import { dataSourceOptions, migrate } from '../../../src/platform/database/data-source.js';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.js';

let database: TestDatabase;
let dataSource: DataSource;

beforeAll(async () => {
  database = await createTestDatabase('empty');
  const options = dataSourceOptions({ url: database.url, poolSize: 2, withoutLimits: true });
  const all = options.migrations as (new () => object)[];
  // As the schema was before what cannot be undone came upon it.
  dataSource = new DataSource({ ...options, migrations: all.slice(0, all.indexOf(IndexAudit20261123000300)) });
  await dataSource.initialize();
  await migrate(dataSource);
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

const tables = async () =>
  (await database.sql<{ name: string }>(`select tablename as name from pg_tables where schemaname = 'public' order by 1`))
    .map(({ name }) => name);

/** Undoes the newest migrations down to this one, and it too. */
async function undo(name: string): Promise<void> {
  while ((await database.sql('select 1 from migrations where name = $1', [name])).length > 0) await dataSource.undoLastMigration();
}

test('the trees can be taken out and put back while nothing has grown, and no longer when something has', async () => {
  const before = await tables();
  await undo('GrowTrees20261123000100');
  expect(await tables()).not.toContain('audit_trees');
  await migrate(dataSource);
  expect(await tables()).toEqual(before);
  await undo('ForbidRewriting20261123000200');
  await database.sql(`insert into audit_trees (organization_id, size, root, integrated_at) values ('org_a', 1, '', now())`);
  await expect(dataSource.undoLastMigration()).rejects.toThrow(/leaves have been integrated/);
  expect(await tables()).toEqual(before);
});

test('signing in can be taken out and put back', async () => {
  const whole = await createTestDatabase('empty');
  const all = new DataSource(dataSourceOptions({ url: whole.url, poolSize: 2, withoutLimits: true }));
  const columns = () => whole.sql(
    `select table_name, column_name, data_type, is_nullable, column_default from information_schema.columns
     where table_schema = 'public' order by 1, 2`);
  try {
    await all.initialize();
    await migrate(all);
    const before = await columns();
    const isThere = () => whole.sql(`select 1 from migrations where name = 'SignPeopleIn20261124000100'`);
    while ((await isThere()).length > 0) await all.undoLastMigration();
    expect(JSON.stringify(await columns())).not.toMatch(/"sessions"|"tier"|"spent_once"/);
    await migrate(all);
    expect(await columns()).toEqual(before);
  } finally {
    if (all.isInitialized) await all.destroy();
    await whole.drop();
  }
});
