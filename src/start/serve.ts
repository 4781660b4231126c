import { renameSync, writeFileSync } from 'node:fs';
import type { Server, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { INestApplication } from '@nestjs/common';
import {
  completeConfig, givenSecrets, loadConfig, type CompleteConfig, type Config, type ServerSecrets,
} from '../platform/config/config.js';
import { DISK_TO_EXPECT } from '../platform/config/disk-to-expect.js';
import { serverVersion } from '../platform/config/server-version.js';
import { warningsAbout } from '../platform/config/warnings.js';
import { StartRefused } from '../platform/config/start-refused.js';
import { embeddedSecrets } from '../platform/embedded/secret-files.js';
import { startEmbeddedPostgres } from '../platform/embedded/supervisor.js';
import { createLogger, type Logger } from '../platform/logging/logger.js';
import { refuseWithoutAnchor } from './anchor-check.js';
import { announceStart, explainFailure, type Made } from './announcement.js';
import { withEnvironmentFile } from './environment-file.js';
import { checkPort, listenRefusal, localUrl } from './listen-address.js';
import { RootKeyFile } from './root-key-file.js';
import { Shutdown } from './shutdown.js';

const KEPT_FOR_EVER = `${DISK_TO_EXPECT}, kept for ever until AUDIT_RETENTION_DAYS says otherwise (docs/capacity.md)`;
/** How long requests may still take when the server is asked to end. */
const DRAIN_MS = 8_000;

/** Configuration → embedded database → migrations → first set-up → application → banner, and back down at a signal. */
export async function serve(env: NodeJS.ProcessEnv): Promise<void> {
  const made: Made = {};
  let logger: Logger | undefined;
  const shutdown = new Shutdown((error) => logger?.error({ err: error }, 'a part did not end as it should'));
  let meant = env;
  try {
    meant = withEnvironmentFile(env);
    const config = loadConfig(meant);
    logger = createLogger(config);
    const log = logger;
    shutdown.add(() => Promise.resolve(log.info('the server has ended')));
    for (const warning of warningsAbout(config)) logger.warn(warning);
    shutdown.listen();
    const held = await start(config, logger, shutdown, made);
    const facts = { ...bannerFacts(config, made), ...(held === undefined ? {} : { held }) };
    announceStart(facts, meant, logger);
    if (env.COUNTERSIGN_READY_FILE) announce(env.COUNTERSIGN_READY_FILE, localUrl(config));
  } catch (error) {
    // A start that a signal cut short fails somewhere; that error is not reported.
    if (!shutdown.isBegun) {
      const reason = error instanceof Error ? error : new Error(String(error));
      explainFailure(reason, reason instanceof StartRefused, meant, made, logger);
    }
    await shutdown.run(1);
  }
}

/** @returns why it serves nobody yet, if it does not */
async function start(config: Config, logger: Logger, shutdown: Shutdown, made: Made): Promise<string | undefined> {
  await checkPort(config);
  if (config.metricsPort !== undefined) await checkPort({ host: config.host, port: config.metricsPort }, 'METRICS_PORT');
  await refuseWithoutAnchor(config);
  // Loading the framework takes as long as starting the database: both at once.
  const application = import('../app.js');
  application.catch(() => undefined);
  const complete = config.embedded ? await withEmbeddedDatabase(config, logger, shutdown) : withGivenDatabase(config);
  const markKey = await setUp(complete, logger, made);
  const app = await (await application).createApp({ ...complete, markKey }, logger);
  shutdown.add(() => drain(app, shutdown.isReplacement ? complete.shutdownDelay : 0));
  await listen(app, complete);
  const { MaintenanceMode } = await import('../platform/audit/maintenance-mode.js');
  return app.get(MaintenanceMode).because;
}

function withGivenDatabase(config: Config): CompleteConfig {
  const { databaseUrl } = config;
  if (databaseUrl === undefined) throw new StartRefused('DATABASE_URL: must be set');
  return completeConfig(config, { ...givenSecrets(config), databaseUrl });
}

async function withEmbeddedDatabase(config: Config, logger: Logger, shutdown: Shutdown): Promise<CompleteConfig> {
  let secrets: ServerSecrets | undefined;
  const database = await startEmbeddedPostgres({
    dataDir: config.dataDir,
    binDir: config.postgresBin,
    log: (line) => logger.info(line),
    beforeStart: (databaseExists) => {
      secrets = embeddedSecrets(config, databaseExists);
    },
  });
  shutdown.add(() => database.stop());
  void database.lost.then(() => {
    logger.fatal('the embedded database has ended; the server ends too, and recovers at its next start');
    return shutdown.run(1);
  });
  if (!secrets) throw new Error('the secrets are read before the database starts');
  return completeConfig(config, { ...secrets, databaseUrl: database.url });
}

/**
 * Brings the schema up to date; in an empty database makes the first organization and the root key.
 *
 * @returns the key of the installation's marks
 */
async function setUp(config: CompleteConfig, logger: Logger, made: Made): Promise<Buffer> {
  const [{ connected }, { createDataSource, migrate, MIGRATION_NAMES }, pooling, { firstRun }] = await Promise.all([
    import('../platform/database/connected.js'),
    import('../platform/database/data-source.js'),
    import('../platform/database/pooling.js'),
    import('../modules/organizations/installation/first-run.js'),
  ]);
  const keyFile = config.rootKeyFile === undefined ? undefined : RootKeyFile.open(config.rootKeyFile);
  // The framework is being loaded meanwhile and holds the event loop, so a connection may take longer than later on.
  const options = { url: config.databaseUrl, poolSize: 2, connectTimeoutMs: 15_000, withoutLimits: true } as const;
  let dataSource: Awaited<ReturnType<typeof connected>> | undefined;
  try {
    dataSource = await connected(() => createDataSource(options), (line) => logger.warn(line));
    await pooling.refuseTransactionPooling(dataSource);
    if (config.databaseListenUrl !== undefined) await pooling.refuseTransactionPoolingAt(config.databaseListenUrl);
    made.isFirst = (await migrate(dataSource)).length === MIGRATION_NAMES.length;
    const { rootKey, markKey } = await firstRun(dataSource, config);
    // A key that the operator chose is theirs already.
    if (rootKey !== undefined && rootKey !== config.rootApiKey) {
      made.rootKey = rootKey;
      keyFile?.write(rootKey);
    }
    return markKey;
  } finally {
    keyFile?.close();
    await dataSource?.destroy();
  }
}

async function listen(app: INestApplication, config: CompleteConfig): Promise<void> {
  const server = app.getHttpServer() as Server;
  // A client that sends its headers or body by drops holds a connection for so long and no longer.
  server.headersTimeout = 10_000;
  server.requestTimeout = 30_000;
  // Longer than the idle timeout of usual load balancers, so that they never write into a connection that is just closing.
  server.keepAliveTimeout = 65_000;
  try {
    await app.listen(config.port, config.host);
  } catch (error) {
    throw listenRefusal(error, config);
  }
}

/**
 * Is not ready for so many seconds first, and serves meanwhile, so that proxies send their calls elsewhere; connections that they keep end
 * with the next answer on each. Then takes no new requests and lets the running ones end, then cuts what still hangs (an event stream
 * never ends by itself).
 * Before Nest's own close, which may cut connections at once.
 */
async function drain(app: INestApplication, delay: number): Promise<void> {
  const server = app.getHttpServer() as Server;
  // Loaded with the application, long ago: to name it above would load the framework before the database is started.
  const { Waiters } = await import('../platform/wake/waiters.js');
  const { Ending } = await import('../platform/http/ending.js');
  app.get(Ending).begin();
  server.prependListener('request', (_, response: ServerResponse) => (response.shouldKeepAlive = false));
  await pause(delay * 1_000);
  app.get(Waiters).release();
  const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await new Promise<void>((done) => void server.close(() => done()));
  clearTimeout(cut);
  await app.close();
}

function bannerFacts(config: Config, made: Made) {
  const { rootKey } = made;
  const intoFile = rootKey !== undefined && config.rootKeyFile !== undefined;
  return {
    version: serverVersion(),
    url: localUrl(config),
    dataDir: config.embedded ? config.dataDir : undefined,
    rootKey: intoFile ? undefined : rootKey,
    rootKeyFile: intoFile ? config.rootKeyFile : undefined,
    keptFor: made.isFirst && config.auditRetentionDays === undefined ? KEPT_FOR_EVER : undefined,
  };
}

/** Whole or not there, for whoever waits for it. */
function announce(file: string, url: string): void {
  writeFileSync(`${file}.${process.pid}`, JSON.stringify({ url, pid: process.pid }));
  renameSync(`${file}.${process.pid}`, file);
}
