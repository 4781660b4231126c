import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { checkoutRoot } from '../platform/config/checkout-root.js';
import { locateCluster } from '../platform/embedded/cluster.js';
import { startEmbeddedPostgres } from '../platform/embedded/supervisor.js';
import { runningEmbeddedDatabase } from './embedded-address.js';

/** Address of the database that the environment means: the one it names, else the embedded one while a server runs it. */
export function databaseOf(env: NodeJS.ProcessEnv): string | undefined {
  if (env['DATABASE_URL']) return env['DATABASE_URL'];
  if (env['DATABASE_URL_FILE']) return readFileSync(env['DATABASE_URL_FILE'], 'utf8').trim();
  return runningEmbeddedDatabase(dataDirOf(env));
}

/**
 * Runs `work` on that database. An embedded one that no server runs is started as the server would start it, and ended again;
 * one that is not there is not made. @returns undefined where there is no database
 */
export async function onDatabaseOf<Result>(
  env: NodeJS.ProcessEnv,
  work: (url: string) => Promise<Result>,
): Promise<{ outcome: Result } | undefined> {
  const url = databaseOf(env);
  if (url !== undefined) return { outcome: await work(url) };
  const dataDir = dataDirOf(env);
  // To look must not make anything.
  if (!existsSync(dataDir) || !locateCluster(dataDir).exists) return undefined;
  const database = await startEmbeddedPostgres({ dataDir, ...(env['POSTGRES_BIN'] ? { binDir: env['POSTGRES_BIN'] } : {}) });
  try {
    return { outcome: await work(database.url) };
  } finally {
    await database.stop();
  }
}

export function dataDirOf(env: NodeJS.ProcessEnv): string {
  return resolve(env['DATA_DIR'] || resolve(checkoutRoot(), '.countersign'));
}
