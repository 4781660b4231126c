import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { createDataSource, dataSourceOptions } from '../../../src/platform/database/data-source.js';
import { newClient, SESSION } from '../../../src/platform/database/new-client.js';
import { preparing } from '../../../src/platform/database/statements/prepared.js';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('empty');
});
afterAll(() => database.drop());

const JIT = `select current_setting('jit') as jit`;

async function jitOf(client: pg.Client): Promise<string> {
  await client.connect();
  try {
    return (await client.query<{ jit: string }>(JIT)).rows[0]!.jit;
  } finally {
    await client.end();
  }
}

/** What the first connection of a pool of these options answers. */
async function jitIn(options: DataSourceOptions, inTransaction: boolean): Promise<string> {
  const dataSource = new DataSource({ ...options, migrations: [] } as DataSourceOptions);
  await dataSource.initialize();
  const runner = dataSource.createQueryRunner();
  try {
    if (inTransaction) await (await preparing(runner)).startTransaction();
    const [{ jit }] = (await runner.query(JIT)) as [{ jit: string }];
    return jit;
  } finally {
    await runner.release();
    await dataSource.destroy();
  }
}

describe('nothing is compiled just in time', () => {
  test('on a connection of the product, while others on the same server have it on', async () => {
    expect(await jitOf(new pg.Client({ connectionString: database.url }))).toBe('on');
    expect(await jitOf(newClient({ url: database.url, name: 'a test' }))).toBe('off');
    expect(await jitOf(newClient({ url: database.url, name: 'a test', session: SESSION }))).toBe('off');
    for (const options of [{}, { withoutLimits: true as const }]) {
      const pool = createDataSource({ url: database.url, poolSize: 1, connectTimeoutMs: 10_000, ...options });
      expect(await jitIn(pool.options, false)).toBe('off');
    }
  });

  test('in a unit of work, whatever its session has', async () => {
    const options = dataSourceOptions({ url: database.url, poolSize: 1, connectTimeoutMs: 10_000 });
    const bare = { ...options, extra: { ...(options.extra as object), Client: undefined } } as DataSourceOptions;
    expect(await jitIn(bare, false)).toBe('on');
    expect(await jitIn(bare, true)).toBe('off');
  });
});
