import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { checkoutRoot } from '../platform/config/checkout-root.js';
import { postgresUrl } from '../platform/config/value-types.js';
import { locateCluster } from '../platform/embedded/cluster.js';
import { startEmbeddedPostgres } from '../platform/embedded/supervisor.js';
import { runningEmbeddedDatabase } from './embedded-address.js';

export interface DatabaseLocation {
  readonly kind: 'database';
  readonly url: string;
  /** The option or variable that named it, or that it was found. */
  readonly by: string;
}

/** @throws Error when it is none; the message never repeats it, since it may hold a password */
export function databaseAddress(url: string, by: string): DatabaseLocation {
  if (!postgresUrl().safeParse(url).success) {
    throw new Error(`${by} is no address of a database: write it like postgres://user:password@host:5432/database`);
  }
  return { kind: 'database', url, by };
}

/** The one that a variable names. */
export function namedDatabase(env: NodeJS.ProcessEnv): DatabaseLocation | undefined {
  const { DATABASE_URL: url, DATABASE_URL_FILE: file } = env;
  if (url) return databaseAddress(url, 'DATABASE_URL');
  return file ? databaseAddress(readFileSync(file, 'utf8').trim(), 'DATABASE_URL_FILE') : undefined;
}

/** The embedded one of the data directory, while a server runs it. */
export function runningDatabase(env: NodeJS.ProcessEnv): DatabaseLocation | undefined {
  const url = runningEmbeddedDatabase(dataDirOf(env));
  return url === undefined ? undefined : { kind: 'database', url, by: 'the embedded one of DATA_DIR' };
}

/** The environment with another database, where one was given on the command line. */
export function withDatabase(env: NodeJS.ProcessEnv, given: string | undefined): NodeJS.ProcessEnv {
  if (given === undefined) return env;
  const { DATABASE_URL_FILE: _overruled, ...rest } = env;
  return { ...rest, DATABASE_URL: databaseAddress(given, '--database-url').url };
}

/**
 * Runs `work` on the database that the environment means: the one it names, else the embedded one. That is started as the server would
 * start it where none runs it, and ended again; one that is not there is not made. @returns undefined where there is no database
 */
export async function onDatabaseOf<Result>(
  env: NodeJS.ProcessEnv,
  work: (url: string) => Promise<Result>,
): Promise<{ outcome: Result } | undefined> {
  const address = namedDatabase(env) ?? runningDatabase(env);
  if (address !== undefined) return { outcome: await work(address.url) };
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

/** A relative folder is one of the checkout, as for the server: commands are given from anywhere. */
export function dataDirOf(env: NodeJS.ProcessEnv): string {
  return resolve(checkoutRoot(), env['DATA_DIR'] || '.countersign');
}
