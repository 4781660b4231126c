import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { StartRefused } from '../config/start-refused.js';
import { newClient } from '../database/new-client.js';
import { findBinaries, type Binaries } from './binaries.js';
import {
  checkVersion, initialiseCluster, locateCluster, makeHome, prepareDataDirectory, RESTORING, type Cluster,
} from './cluster.js';
import { lockDataDirectory } from './data-lock.js';
import { Postmaster, endOrphan, freePort } from './postmaster.js';
import { readOrMakeSecret } from './secret-files.js';
import { socketFolder } from './socket-folder.js';

export interface EmbeddedPostgresOptions {
  /** Folder of the data, the passwords and the log; made if missing. */
  readonly dataDir: string;
  /** Folder with `initdb` and `postgres`; default: the packaged ones. */
  readonly binDir?: string;
  /** Receives a line for each unusual thing that is done. */
  readonly log?: (line: string) => void;
  /** More PostgreSQL settings, by name. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Called once the data directory is ours and before the database is made; `exists` says whether there is one already. */
  readonly beforeStart?: (databaseExists: boolean) => void;
}

export interface EmbeddedPostgres {
  /** Database `countersign` as its owner, who is no superuser; with `?host=<folder>` where it has a Unix socket. */
  readonly url: string;
  /** Database `postgres` as superuser. */
  readonly superuserUrl: string;
  readonly firstStart: boolean;
  readonly pid: number;
  /** Settles when the database has ended although nobody asked for it. */
  readonly lost: Promise<void>;
  /** Ends the database and gives the data directory back. */
  stop(): Promise<void>;
}

const ROLE = 'countersign';
const START_PATIENCE = 60_000;

/**
 * Starts a PostgreSQL of our own on `dataDir`, on a free port of 127.0.0.1 and, where there can be one, on a Unix socket: makes it
 * at the first start, recovers it after a crash, ends what a killed process left behind. One process at a time may hold a data
 * directory.
 * @throws StartRefused with a message for the operator
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const log = options.log ?? (() => undefined);
  const dataDir = prepareDataDirectory(options.dataDir);
  const unlock = lockDataDirectory(dataDir);
  try {
    assertNotRestoring(dataDir);
    const cluster = locateCluster(dataDir);
    options.beforeStart?.(cluster.exists);
    const passwords = databasePasswords(dataDir, cluster.exists);
    makeHome(cluster, dataDir);
    const binaries = findBinaries({ binDir: options.binDir, copyTo: cluster.home, user: cluster.user });
    if (cluster.exists) {
      checkVersion(cluster.folder, binaries);
      await endOrphan(cluster.folder, log);
    } else initialiseCluster(cluster, binaries, passwords.superuser);
    const sockets = await socketFolder(cluster);
    const postmaster = await spawnReady(cluster, binaries, passwords, { dataDir, sockets, settings: options.settings });
    return await handleOf(postmaster, passwords, { unlock, sockets, firstStart: !cluster.exists });
  } catch (error) {
    unlock();
    throw error;
  }
}

/** An empty database in the place of the one that was to be restored would look like a lost one. */
function assertNotRestoring(dataDir: string): void {
  const aside = join(dataDir, RESTORING);
  if (!existsSync(aside)) return;
  throw new StartRefused(`DATA_DIR: a restore into ${dataDir} broke off. Run it again, which begins anew, or remove ${aside}.`);
}

interface Passwords {
  readonly superuser: string;
  readonly owner: string;
}

/** Both passwords are made before the database is: afterwards they cannot be learnt from it. */
function databasePasswords(dataDir: string, databaseExists: boolean): Passwords {
  const make = () => randomBytes(32).toString('base64url');
  const superuser = readOrMakeSecret(dataDir, 'database-superuser-password', databaseExists ? undefined : make);
  // The owner's can be set anew by the superuser, so losing it costs nothing.
  const owner = readOrMakeSecret(dataDir, 'database-password', make);
  if (!superuser || !owner) {
    throw new StartRefused(
      `DATA_DIR: the password of the database in ${join(dataDir, 'secrets')} is missing. Bring it back from a backup.`,
    );
  }
  return { superuser, owner };
}

const superuserUrl = (port: number, { superuser }: Passwords) => `postgres://postgres:${superuser}@127.0.0.1:${port}/postgres`;
const ownerUrl = (port: number, { owner }: Passwords) => `postgres://${ROLE}:${owner}@127.0.0.1:${port}/${ROLE}`;

async function spawnReady(
  cluster: Cluster,
  binaries: Binaries,
  passwords: Passwords,
  { dataDir, ...options }: { dataDir: string; sockets: string | undefined; settings?: Readonly<Record<string, string>> },
): Promise<Postmaster> {
  const logFile = join(dataDir, 'postgres.log');
  for (let attempt = 1; ; attempt += 1) {
    const postmaster = Postmaster.spawn(cluster, binaries, { ...options, port: await freePort(), logFile });
    if (await answers(postmaster, passwords)) return postmaster;
    const words = postmaster.lastWords();
    await postmaster.stop();
    // Between finding the port free and binding it, somebody else may have taken it.
    if (attempt >= 5 || !/could not bind|could not create any TCP/.test(words)) {
      throw new StartRefused(`The embedded database did not start. Its last words (${logFile}):\n${words}`);
    }
  }
}

/** Asks until the database answers (after a crash it first replays its log), or has ended. */
async function answers(postmaster: Postmaster, passwords: Passwords): Promise<boolean> {
  const end = Date.now() + START_PATIENCE;
  for (let pause = 10; postmaster.running && Date.now() < end; pause = Math.min(pause * 1.5, 250)) {
    const outcome = await connects(ownerUrl(postmaster.port, passwords));
    if (outcome === 'yes') return true;
    // Invalid password or role (28…), or no such database: the database answers, and lacks what its first start makes.
    if (/^28|^3D000$/.test(outcome)) {
      await makeDatabase(postmaster.port, passwords);
      return true;
    }
    await delay(pause);
  }
  return false;
}

async function connects(url: string): Promise<string> {
  const client = newClient({ url, name: 'countersign start' });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return 'yes';
  } catch (error) {
    return (error as { code?: string }).code ?? 'unknown';
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Makes the role and its database, or what of them is missing: each step can follow an interrupted first start. */
async function makeDatabase(port: number, passwords: Passwords): Promise<void> {
  const client = newClient({ url: superuserUrl(port, passwords), name: 'countersign start', connectTimeoutMs: START_PATIENCE });
  await client.connect().catch((error: Error) => {
    throw new StartRefused(`DATA_DIR: the database does not accept its stored password (${error.message})`);
  });
  try {
    const has = async (sql: string) => (await client.query(sql, [ROLE])).rows.length > 0;
    const verb = (await has('SELECT 1 FROM pg_roles WHERE rolname = $1')) ? 'ALTER' : 'CREATE';
    await client.query(`${verb} ROLE ${ROLE} LOGIN NOSUPERUSER NOCREATEROLE PASSWORD ${pg.escapeLiteral(passwords.owner)}`);
    if (!(await has('SELECT 1 FROM pg_database WHERE datname = $1'))) await client.query(`CREATE DATABASE ${ROLE} OWNER ${ROLE}`);
  } finally {
    await client.end();
  }
}

async function handleOf(
  postmaster: Postmaster,
  passwords: Passwords,
  { unlock, sockets, firstStart }: { unlock: () => void; sockets: string | undefined; firstStart: boolean },
): Promise<EmbeddedPostgres> {
  let asked = false;
  const { pid } = postmaster;
  if (pid === undefined) throw new StartRefused('The embedded database ended while it was starting');
  return {
    url: ownerUrl(postmaster.port, passwords) + (sockets === undefined ? '' : `?host=${encodeURIComponent(sockets)}`),
    superuserUrl: superuserUrl(postmaster.port, passwords),
    firstStart,
    pid,
    lost: new Promise((done) => void postmaster.ended.then(() => asked || done())),
    stop: async () => {
      asked = true;
      await postmaster.stop();
      unlock();
    },
  };
}
