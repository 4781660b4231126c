import type { PoolClient } from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { CreateAuditLog20261121000100 } from '../../../migrations/20261121000100-create-audit-log.js';
import { CreateRegistry20261121000200 } from '../../../migrations/20261121000200-create-registry.js';
import { CreateGate20261121000300 } from '../../../migrations/20261121000300-create-gate.js';
import { CreateVerificationTurns20261121000400 } from '../../../migrations/20261121000400-create-verification-turns.js';
import { AddPeople20261122000100 } from '../../../migrations/20261122000100-add-people.js';
import { AddStopsAndDuties20261122000200 } from '../../../migrations/20261122000200-add-stops-and-duties.js';
import { ShareAndLimitGrants20261122000300 } from '../../../migrations/20261122000300-share-and-limit-grants.js';
import { AddRateQuotas20261122000400 } from '../../../migrations/20261122000400-add-rate-quotas.js';
import { CompleteHitl20261122000500 } from '../../../migrations/20261122000500-complete-hitl.js';
import { StreamHitlEvents20261122000600 } from '../../../migrations/20261122000600-stream-hitl-events.js';
import { FenceExecutions20261122000700 } from '../../../migrations/20261122000700-fence-executions.js';
import { IndexQueues20261122000800 } from '../../../migrations/20261122000800-index-queues.js';
import { GatherRoundTrips20261122000900 } from '../../../migrations/20261122000900-gather-round-trips.js';
import { GrowTrees20261123000100 } from '../../../migrations/20261123000100-grow-trees.js';
import { ForbidRewriting20261123000200 } from '../../../migrations/20261123000200-forbid-rewriting.js';
import { IndexAudit20261123000300 } from '../../../migrations/20261123000300-index-audit.js';
import { KeepTileRoots20261123000400 } from '../../../migrations/20261123000400-keep-tile-roots.js';
import { FollowErasures20261123000600 } from '../../../migrations/20261123000600-follow-erasures.js';
import { SignPeopleIn20261124000100 } from '../../../migrations/20261124000100-sign-people-in.js';
import { HandEffectsOver20261124000200 } from '../../../migrations/20261124000200-hand-effects-over.js';
import { NarrowForkGuard20261124000300 } from '../../../migrations/20261124000300-narrow-fork-guard.js';
import { AnalyzeLess20261124000400 } from '../../../migrations/20261124000400-analyze-less.js';
import { SignSweeps20261124000500 } from '../../../migrations/20261124000500-sign-sweeps.js';
import { SignRecoveries20261124000600 } from '../../../migrations/20261124000600-sign-recoveries.js';
import { SignErasures20261124000700 } from '../../../migrations/20261124000700-sign-erasures.js';
import { VouchForKeys20261124000800 } from '../../../migrations/20261124000800-vouch-for-keys.js';
import { KeepWhatIsSigned20261124001000 } from '../../../migrations/20261124001000-keep-what-is-signed.js';
import { IndexAcrossOrganizations20261124002000 } from '../../../migrations/20261124002000-index-across-organizations.js';
import { CoalescingSocket } from './batching/coalescing-socket.js';
import './statements/json-columns.js';

const OLDEST_POSTGRESQL = 150_000;
const MIGRATION_LOCK = 715_517_001;

/**
 * Limits of every connection, in milliseconds. A frozen replica's transaction ends by the idle limit, so that its locks
 * go; the lock limit stands above it, so that whoever waits outlives it; the statement limit stands above both.
 */
const UNLIMITED = '-c timezone=UTC';
export const SESSION = `-c idle_in_transaction_session_timeout=3000 -c lock_timeout=4000 -c statement_timeout=5000 ${UNLIMITED}`;

export interface DatabaseOptions {
  url: string;
  poolSize: number;
  /** How long to wait for a connection, in milliseconds. Default 1,000: a pool that is used up says so within a second. */
  connectTimeoutMs?: number;
  /** How long to wait for an answer on a connection that stands, in milliseconds. Default: as long as it takes. */
  answerTimeoutMs?: number;
  /** Looks at every new connection before it is used; one that it refuses is closed. */
  verify?: (client: PoolClient, done: (error?: Error) => void) => void;
  /** For migrations: an index over a large table, and the wait for its lock, take as long as they take. */
  withoutLimits?: true;
}

export function dataSourceOptions(
  { url, poolSize, connectTimeoutMs = 1_000, answerTimeoutMs, verify, withoutLimits }: DatabaseOptions,
): DataSourceOptions {
  return {
    type: 'postgres',
    url,
    poolSize,
    migrations: [
      CreateAuditLog20261121000100, CreateRegistry20261121000200, CreateGate20261121000300, CreateVerificationTurns20261121000400,
      AddPeople20261122000100, AddStopsAndDuties20261122000200, ShareAndLimitGrants20261122000300, AddRateQuotas20261122000400,
      CompleteHitl20261122000500, StreamHitlEvents20261122000600, FenceExecutions20261122000700, IndexQueues20261122000800,
      GatherRoundTrips20261122000900, GrowTrees20261123000100, ForbidRewriting20261123000200, IndexAudit20261123000300,
      KeepTileRoots20261123000400, FollowErasures20261123000600, SignPeopleIn20261124000100,
      HandEffectsOver20261124000200, NarrowForkGuard20261124000300, AnalyzeLess20261124000400, SignSweeps20261124000500,
      SignRecoveries20261124000600, SignErasures20261124000700, VouchForKeys20261124000800, KeepWhatIsSigned20261124001000,
      IndexAcrossOrganizations20261124002000,
    ],
    migrationsTableName: 'migrations',
    // Each migration commits with its own row in the table, so a failed one leaves those before it in place.
    migrationsTransactionMode: 'each',
    synchronize: false,
    applicationName: 'countersign',
    // pg's own defaults wait for ever: for a free connection, and for a server that has gone silent.
    extra: {
      ...hostParameter(url),
      options: withoutLimits ? UNLIMITED : SESSION,
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
 * @throws Error on a PostgreSQL older than 15
 */
export async function migrate(dataSource: DataSource): Promise<void> {
  const lock = dataSource.createQueryRunner();
  await lock.connect();
  try {
    const [{ version }] = (await lock.query(`select current_setting('server_version_num')::integer as version`)) as [{ version: number }];
    if (version < OLDEST_POSTGRESQL) throw new Error(`PostgreSQL 15 or newer is needed; this server is ${Math.floor(version / 10_000)}.`);
    await lock.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    try {
      await dataSource.runMigrations();
    } finally {
      await lock.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    }
  } finally {
    await lock.release();
  }
}
