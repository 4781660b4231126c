import type { QueryResultRow } from 'pg';
import { createTestDatabase, type TestDatabase } from './database.js';
import { freePort, startServerProcess, type ServerProcess } from './server-process.js';
import type { Environment } from './test-run.js';

export interface ServerOptions {
  /** Settings of this server over those of test/support/servers/environment.json; `DATABASE_URL` is another way to the same database. */
  readonly env?: Environment;
  /** Whose database this one shares, and leaves: that of another server, to be a second replica, or one of the test's. */
  readonly replicaOf?: Pick<TestServer, 'database'>;
  /** `empty` lets the server migrate and make its first run by itself; the template has both behind it. */
  readonly database?: 'template' | 'empty';
  /** Runs in no process that has run other servers: for who sets Node up, measures the process or waits for its exit. */
  readonly ownProcess?: boolean;
}

export interface TestServer {
  readonly url: string;
  readonly pid: number;
  readonly database: TestDatabase;
  /** One statement on the server's database, past the server. */
  sql<Row extends QueryResultRow>(text: string, params?: readonly unknown[]): Promise<Row[]>;
  /** What the server has written to its output. */
  output(): string;
  /** Throws, with the server's output, if it went away by itself. */
  assertAlive(): Promise<void>;
  /** Ends it gently and drops its database. Throws if it had crashed. */
  stop(): Promise<void>;
  /** Ends it as a fault would; the database stays, for `restart`. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Ends it gently if it still runs, and starts it again on the same database and port. */
  restart(env?: Environment): Promise<void>;
}

/** A server of the test's own, on a database of its own. */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const database = options.replicaOf?.database ?? (await createTestDatabase(options.database));
  const env = { AUDIT_ANCHORS: database.anchors, DATABASE_URL: database.url, ...options.env };
  try {
    const { process, port } = await startOnFreePort(env, options);
    return supervise(process, port, database, env, options);
  } catch (error) {
    if (!options.replicaOf) await database.drop();
    throw error;
  }
}

// Between finding a free port and listening on it, another test's server may take it.
async function startOnFreePort(
  env: Environment,
  options: ServerOptions,
  attempts = 3,
): Promise<{ process: ServerProcess; port: number }> {
  const port = await freePort();
  try {
    return { process: await startServerProcess(env, port, options), port };
  } catch (error) {
    if (attempts > 1 && error instanceof Error && /already in use/i.test(error.message)) {
      return startOnFreePort(env, options, attempts - 1);
    }
    throw error;
  }
}

function supervise(
  first: ServerProcess,
  port: number,
  database: TestDatabase,
  env: Environment,
  options: ServerOptions,
): TestServer {
  let current = first;
  const assertAlive = async () => {
    const crash = await current.crashNews();
    if (crash !== undefined) throw new Error(crash);
  };
  return {
    get url() {
      return current.url;
    },
    get pid() {
      return current.pid;
    },
    database,
    sql: (text, params) => database.sql(text, params),
    output: () => current.output(),
    assertAlive,
    stop: async () => {
      const crash = current.crash();
      try {
        await current.end('SIGTERM');
      } finally {
        if (options.replicaOf === undefined) await database.drop();
      }
      if (crash !== undefined) throw new Error(crash);
    },
    kill: (signal = 'SIGKILL') => current.end(signal),
    restart: async (change = {}) => {
      await current.end('SIGTERM');
      current = await startServerProcess({ ...env, ...change }, port, options);
    },
  };
}

/** Starts a server again that was killed. On a busy machine a start may take too long; further tries are no part of what is shown. */
export async function back(server: TestServer, env: Environment = {}, tries = 4): Promise<void> {
  await server.restart(env).catch((error: unknown) => {
    if (tries === 1) throw error;
    return back(server, env, tries - 1);
  });
}
