import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { removeDataDirectory } from '../src/platform/embedded/cluster.js';
import { startEmbeddedPostgres } from '../src/platform/embedded/supervisor.js';
import { CORS_ORIGIN } from './figures.js';
import type { Options } from './options.js';
import { freePort, NodeProcess } from './processes.js';

const built = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Everything that runs during a benchmark, and the way to end it. */
export interface Stage {
  readonly databaseUrl: string;
  readonly database: pg.Client;
  readonly databasePid: number;
  readonly governed: { readonly url: string; readonly pid: number; readonly rootKey: string };
  readonly bare: { readonly url: string; readonly pid: number };
  readonly receiverUrl: string;
  /** Starts one more governed server on the same database, with the same secrets. @param name of its log @param more of its environment */
  anotherServer(name: string, more?: Readonly<Record<string, string>>): Promise<{ readonly url: string; readonly pid: number }>;
  /** Writes everything to the disk that PostgreSQL still holds in memory, so that none of it comes in the middle of a phase. */
  checkpoint(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL on files of its own, with its own defaults, fsync among them; then both servers and the receiver of
 * connector calls.
 */
export async function setStage(folder: string, options: Options): Promise<Stage> {
  const closers: (() => Promise<unknown>)[] = [];
  const dataDir = join(folder, 'data');
  const stop = async () => {
    for (const close of closers.splice(0).reverse()) await close();
    removeDataDirectory(dataDir);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const { settings, postgres: binDir } = options;
    const postgres = await startEmbeddedPostgres({ dataDir, settings, ...(binDir === undefined ? {} : { binDir }) });
    closers.push(() => postgres.stop());
    const asSuperuser = (sql: string) => once(postgres.superuserUrl, sql);
    const checkpoint = () => asSuperuser('checkpoint');
    await asSuperuser(WRITE_WAL);
    await checkpoint();
    const database = new pg.Client({ connectionString: postgres.url });
    // A broken connection is reported by the next query on it.
    database.on('error', () => undefined);
    await database.connect();
    closers.push(() => database.end());
    const start = startersOf(folder, postgres.url, options, closers);
    const receiver = start('receiver', { script: built('load/receiver.js') });
    const { port } = await receiver.firstMessage<{ port: number }>();
    const receiverUrl = `http://127.0.0.1:${port}/orders`;
    const models = `http://127.0.0.1:${port}/v1`;
    const rootKey = `svc_root_${randomBytes(32).toString('hex')}`;
    const environment = environmentOfServers(folder, models, rootKey);
    const anotherServer = (name: string, more: Readonly<Record<string, string>> = {}) =>
      startGoverned(folder, name, { ...environment, ...more }, start);
    const governed = { ...(await anotherServer('governed')), rootKey };
    const bare = await startBare(models, start);
    return {
      databaseUrl: postgres.url, database, databasePid: postgres.pid, governed, bare, receiverUrl, anotherServer, checkpoint, stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * As much write-ahead log as a few minutes of the studies write. A PostgreSQL that has run for a while writes it into files that it
 * has used before; a new one makes each file when it needs it, 16 MB of zeros, while every commit waits: a matter of its first
 * minutes, which would be measured instead of ours.
 */
const WRITE_WAL = `select pg_logical_emit_message(false, 'bench', repeat('x', 1048576)) from generate_series(1, 700)`;

async function once(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

type Start = (name: string, order: { script: string; env?: Record<string, string> }) => NodeProcess;

/** What both servers share: Node's flags, the database, the size of the pool, and a line in the log for each request. */
function startersOf(folder: string, databaseUrl: string, options: Options, closers: (() => Promise<unknown>)[]): Start {
  const shared = {
    DATABASE_URL: databaseUrl, DATABASE_POOL_SIZE: String(options.poolSize), LOG_LEVEL: 'info', NODE_ENV: 'development',
  };
  const { profile } = options;
  if (profile !== undefined) mkdirSync(profile, { recursive: true });
  return (name, { script, env = {} }) => {
    // As `npm start` does.
    const flags = ['--max-semi-space-size=32'];
    if (profile !== undefined) flags.push('--cpu-prof', `--cpu-prof-name=${name}.cpuprofile`, `--cpu-prof-dir=${profile}`);
    const started = NodeProcess.spawn({ script, flags, env: { ...shared, ...env }, logFile: join(folder, `${name}.log`) });
    closers.push(() => started.stop());
    return started;
  };
}

/** One for all that share the database. */
function environmentOfServers(folder: string, models: string, rootKey: string): Record<string, string> {
  return {
    ROOT_API_KEY: rootKey, CORS_ORIGINS: CORS_ORIGIN,
    JWT_SECRET: randomBytes(48).toString('base64url'), ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    AUDIT_SIGNING_KEY: randomBytes(32).toString('base64'), AUDIT_ANCHORS: `file:${join(folder, 'anchors')}`,
    AGENT_JWT_TTL: '24h', OUTBOUND_ALLOW: '127.0.0.1', OPENAI_BASE_URL: models, OPENAI_API_KEY: 'sk-of-nobody',
    // Counted, and never reached.
    RATE_LIMIT_PRINCIPAL: '1000000000', HITL_MAX_PENDING_PER_AGENT: '1000000',
  };
}

async function startGoverned(
  folder: string, name: string, environment: Readonly<Record<string, string>>, start: Start,
): Promise<{ url: string; pid: number }> {
  const port = await freePort();
  const ready = join(folder, `${name}-ready.json`);
  const env = { ...environment, PORT: String(port), COUNTERSIGN_READY_FILE: ready };
  const server = start(name, { script: built('../src/main.js'), env });
  await server.file(ready);
  return { url: `http://127.0.0.1:${port}`, pid: server.pid };
}

async function startBare(models: string, start: Start): Promise<Stage['bare']> {
  const port = await freePort();
  const server = start('bare', { script: built('load/bare-server.js'), env: { BARE_PORT: String(port), BARE_MODELS: models } });
  await server.firstMessage();
  return { url: `http://127.0.0.1:${port}`, pid: server.pid };
}
