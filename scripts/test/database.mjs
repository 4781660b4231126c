// One PostgreSQL for a whole run of tests or proofs, and in it the template that every test's database is a copy of.
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { refuseOtherNames } from './database-name.mjs';

const TEMPLATE = 'countersign_test_template';
/** That of src/platform/database/leadership/leadership.ts. */
const LEADER_LOCK = 715_517_006;

// A crash of the machine in the middle of a test run loses a test run. Tests about crashes start a durable one of their own.
const FAST = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
  autovacuum: 'on',
};

/**
 * The run's database server: the one that TEST_DATABASE_URL names, or an embedded one in `folder`.
 * @returns {Promise<{url: string, superuserUrl: string, stop: () => Promise<void>}>} `url` names a database with "test" in its name;
 *   `superuserUrl` is for tests that tamper with what the product's own user cannot
 */
export async function openDatabaseServer(folder, log) {
  const given = process.env.TEST_DATABASE_URL;
  if (given) {
    refuseOtherNames(given);
    return { url: given, superuserUrl: process.env.TEST_SUPERUSER_URL ?? given, stop: () => dropTestDatabases(given) };
  }
  // The postmaster runs as another user when we are root, so it has to get through to its folder.
  chmodSync(folder, 0o755);
  const dataDir = join(folder, 'database');
  const { startEmbeddedPostgres } = await import('../../dist/src/platform/embedded/supervisor.js');
  const embedded = await startEmbeddedPostgres({ dataDir, settings: FAST, log });
  try {
    // Tests make and drop databases; apart from that, they and the servers have the rights of the product's own user.
    await run(embedded.superuserUrl, 'alter role countersign createdb');
    await run(embedded.url, 'create database countersign_test');
    return { url: withDatabase(embedded.url, 'countersign_test'), superuserUrl: embedded.superuserUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }

  async function stop() {
    await embedded.stop();
    const { removeDataDirectory } = await import('../../dist/src/platform/embedded/cluster.js');
    removeDataDirectory(dataDir);
  }
}

/** Drops and makes the template anew: every migration, then the first run by a real server with the tests' secrets. */
export async function makeTemplate(serverUrl, firstRun) {
  const url = withDatabase(serverUrl, TEMPLATE);
  await run(serverUrl, `drop database if exists ${TEMPLATE} with (force)`);
  await run(serverUrl, `create database ${TEMPLATE}`);
  const { createDataSource, migrate } = await import('../../dist/src/platform/database/data-source.js');
  const dataSource = createDataSource({ url, poolSize: 2, withoutLimits: true });
  await dataSource.initialize();
  try {
    await migrate(dataSource);
  } finally {
    await dataSource.destroy();
  }
  await withoutLeader(url, () => firstRun(url));
  // A copy fails while anybody is connected to the original.
  await run(serverUrl, `alter database ${TEMPLATE} with allow_connections false`);
}

/** Whether the first run comes to sign a checkpoint must not hang on how busy the machine is: it never does. */
async function withoutLeader(url, work) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [LEADER_LOCK]);
    await work();
  } finally {
    await client.end();
  }
}

async function dropTestDatabases(url) {
  const ours = `select datname from pg_database where datname like 'countersign\\_test\\_%' and datname <> current_database()`;
  const left = await run(url, ours);
  for (const { datname } of left) await run(url, `drop database if exists "${datname}" with (force)`);
}

async function run(url, statement) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

function withDatabase(url, name) {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}
