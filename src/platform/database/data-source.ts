import type { PoolClient } from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { CreateAuditLog20261121000100 } from '../../../migrations/20261121000100-create-audit-log.js';
import { CreatePeople20261121000200 } from '../../../migrations/20261121000200-create-people.js';
import { CreateAgentsAndGrants20261121000300 } from '../../../migrations/20261121000300-create-agents-and-grants.js';
import { CreateGateAndHitl20261121000400 } from '../../../migrations/20261121000400-create-gate-and-hitl.js';
import { CreateSignIn20261121000500 } from '../../../migrations/20261121000500-create-sign-in.js';
import { CreatePlatform20261121000600 } from '../../../migrations/20261121000600-create-platform.js';
import { CreateNotifications20261121000700 } from '../../../migrations/20261121000700-create-notifications.js';
import { CreateSecrets20261121000800 } from '../../../migrations/20261121000800-create-secrets.js';
import { CreateNodeWork20261121000900 } from '../../../migrations/20261121000900-create-node-work.js';
import { CreateTasks20261121001000 } from '../../../migrations/20261121001000-create-tasks.js';
import { CreateLanguageModels20261121001100 } from '../../../migrations/20261121001100-create-language-models.js';
import { AddMarkKey20261126000100 } from '../../../migrations/20261126000100-add-mark-key.js';
import { NoWayBack } from '../../../migrations/shared/no-way-back.js';
import { StartRefused } from '../config/start-refused.js';
import { CoalescingSocket } from './batching/coalescing-socket.js';
import { runningServers } from './faults/running-servers.query.js';
import { SESSION, UNLIMITED_SESSION } from './new-client.js';
import { compareSchema, migrationsIn, refuseNewer } from './schema-version.js';
import { sessionClient } from './session-client.js';
import './statements/json-columns.js';

const MIGRATIONS = [
  CreateAuditLog20261121000100, CreatePeople20261121000200, CreateAgentsAndGrants20261121000300, CreateGateAndHitl20261121000400,
  CreateSignIn20261121000500, CreatePlatform20261121000600, CreateNotifications20261121000700, CreateSecrets20261121000800,
  CreateNodeWork20261121000900, CreateTasks20261121001000, CreateLanguageModels20261121001100, AddMarkKey20261126000100,
] as const;

/** Of this version, in their order. */
export const MIGRATION_NAMES: readonly string[] = MIGRATIONS.map(({ name }) => name);

export const OLDEST_POSTGRESQL = 150_000;
export const MIGRATION_LOCK = 715_517_001;

export interface DatabaseOptions {
  url: string;
  poolSize: number;
  /** How long to wait for a connection, in milliseconds. Default 1,000: a pool that is used up says so within a second. */
  connectTimeoutMs?: number;
  /** How long to wait for an answer on a connection that stands, in milliseconds. Default: as long as it takes. */
  answerTimeoutMs?: number;
  /** Looks at every new connection before it is used; one that it refuses is closed. */
  verify?: (client: PoolClient, done: (error?: Error) => void) => void;
  /** Hears what the database refuses, and that a connection could not be made. */
  onError?: (error: unknown) => void;
  /** For migrations: an index over a large table, and the wait for its lock, take as long as they take. */
  withoutLimits?: true;
}

export function dataSourceOptions(
  { url, poolSize, connectTimeoutMs = 1_000, answerTimeoutMs, verify, onError, withoutLimits }: DatabaseOptions,
): DataSourceOptions {
  return {
    type: 'postgres',
    url,
    poolSize,
    migrations: [...MIGRATIONS],
    migrationsTableName: 'migrations',
    // Each migration commits with its own row in the table, so a failed one leaves those before it in place.
    migrationsTransactionMode: 'each',
    synchronize: false,
    applicationName: 'countersign',
    // pg's own defaults wait for ever: for a free connection, and for a server that has gone silent.
    extra: {
      ...hostParameter(url),
      Client: sessionClient(withoutLimits ? UNLIMITED_SESSION : SESSION, onError),
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: answerTimeoutMs,
      keepAlive: true,
      ...(verify ? { verify } : {}),
      // A new connection is dear: it signs in, and prepares each statement anew in the middle of somebody's call.
      idleTimeoutMillis: 0,
      // What does not hang on the answer of what was sent before it need not wait for that answer.
      pipeline: true,
      stream: () => new CoalescingSocket(),
    },
  };
}

/** TypeORM takes an address apart by itself, and overlooks the folder of a Unix socket in it (`?host=/folder`, as in libpq). */
function hostParameter(url: string): { host: string } | undefined {
  const host = new URL(url).searchParams.get('host');
  return host === null ? undefined : { host };
}

export function createDataSource(options: DatabaseOptions): DataSource {
  return new DataSource(dataSourceOptions(options));
}

/**
 * Brings the schema up to date. Replicas that start at once take turns by an advisory lock, since two migrators at the
 * same time collide.
 *
 * @param dataSource without limits, of two connections at least
 * @returns the names of those that have run now
 * @throws StartRefused where the schema is a newer version's; Error on a PostgreSQL older than 15
 */
export async function migrate(dataSource: DataSource): Promise<string[]> {
  return alone(dataSource, async () => (await dataSource.runMigrations()).map(({ name }) => name));
}

/**
 * Takes the schema back to what it was once this migration had run, newest first, each in a transaction of its own.
 *
 * @param dataSource as for {@link migrate}
 * @returns the names of those that were undone
 * @throws StartRefused where the schema is a newer version's, servers run on it, or one cannot be undone, which is named
 */
export async function migrateDown(dataSource: DataSource, to: string): Promise<string[]> {
  return alone(dataSource, async (run) => {
    if (!run.includes(to)) throw new StartRefused(`--to: ${to} is none of the migrations that have run (\`countersign migrate status\`)`);
    const servers = await runningServers(dataSource);
    if (servers.length > 0) {
      const which = servers.map(({ version, count }) => `${count} of ${version}`).join(', ');
      throw new StartRefused(`servers run on this schema (${which}): end them first; they are seen for ten seconds`);
    }
    const undone: string[] = [];
    for (const name of run.slice(run.indexOf(to) + 1).reverse()) {
      try {
        await dataSource.undoLastMigration({ transaction: 'each' });
      } catch (error) {
        if (!(error instanceof NoWayBack)) throw error;
        const before = undone.length === 0 ? 'nothing was undone' : `undone before it: ${undone.join(', ')}`;
        throw new StartRefused(`${name} cannot be undone: ${error.message} (${before})`);
      }
      undone.push(name);
    }
    return undone;
  });
}

/** @param work of the one migrator that there is; told the names of what has run, in their order */
async function alone<Result>(dataSource: DataSource, work: (run: readonly string[]) => Promise<Result>): Promise<Result> {
  const lock = dataSource.createQueryRunner();
  await lock.connect();
  try {
    const [{ version }] = (await lock.query(`select current_setting('server_version_num')::integer as version`)) as [{ version: number }];
    if (version < OLDEST_POSTGRESQL) throw new Error(`PostgreSQL 15 or newer is needed; this server is ${Math.floor(version / 10_000)}.`);
    await lock.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    try {
      const schema = compareSchema(MIGRATION_NAMES, await migrationsIn(lock));
      refuseNewer(schema);
      return await work(schema.run);
    } finally {
      await lock.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    }
  } finally {
    await lock.release();
  }
}
