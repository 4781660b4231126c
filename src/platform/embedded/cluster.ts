import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync, chownSync, existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolders } from './make-folders.js';
import { StartRefused } from '../config/start-refused.js';
import { PLAIN_ENVIRONMENT, type Binaries } from './binaries.js';
import { canReach, databaseUser, ownerOf, type DatabaseUser } from './database-user.js';

/** Where the database's files are, and who may touch them. */
export interface Cluster {
  /** PostgreSQL's data directory. */
  readonly folder: string;
  /** The folder around it, which the database user can reach. */
  readonly home: string;
  readonly user: DatabaseUser | undefined;
  readonly exists: boolean;
}

/** Where a restore makes a database in a data directory until that is whole. */
export const RESTORING = 'restoring';

const SUPERUSER = 'postgres';
const POINTER = 'postgres.location';

/** Where data goes that `nobody` must reach, when the data directory is below a folder that is closed to others. */
const SHARED_HOME = process.platform === 'darwin' ? '/usr/local/var/countersign' : '/var/lib/countersign';

/** Makes the data directory if need be, and says whether it can be used at all. */
export function prepareDataDirectory(dataDir: string): string {
  try {
    // Root's must let the database user through; what is secret in it has modes of its own.
    makeFolders(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
    const probe = join(dataDir, `.probe-${randomBytes(6).toString('hex')}`);
    writeFileSync(probe, '');
    rmSync(probe);
    return realpathSync(dataDir);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartRefused(
      `DATA_DIR: the data directory ${dataDir} cannot be written by this user (${code}). ` +
        'Was the server started as another one before?',
    );
  }
}

/** Finds the database's files, or the folder for them. `dataDir` is a real path. */
export function locateCluster(dataDir: string): Cluster {
  const inside = join(dataDir, 'postgres');
  if (existsSync(inside)) return existing(inside);
  const pointed = followPointer(dataDir);
  if (pointed) return existing(pointed);
  const user = databaseUser(undefined);
  if (canReach(user, dataDir)) return { folder: inside, home: dataDir, user, exists: false };
  const home = join(SHARED_HOME, createHash('sha256').update(dataDir).digest('hex').slice(0, 16));
  const folder = join(home, 'postgres');
  if (existsSync(folder)) {
    throw new StartRefused(
      `DATA_DIR: ${folder} belongs to an earlier data directory at ${dataDir}, which is gone. Remove ${home} to begin anew.`,
    );
  }
  return { folder, home, user, exists: false };
}

function existing(folder: string): Cluster {
  const owner = ownerOf(folder);
  const self = process.getuid?.();
  if (self !== undefined && self !== 0 && self !== owner.uid) {
    throw new StartRefused(`DATA_DIR: ${folder} belongs to another user (uid ${owner.uid}). Start as that user or as root.`);
  }
  const user = databaseUser(owner);
  const home = dirname(folder);
  if (!canReach(user, home)) throw new StartRefused(`DATA_DIR: the database user (uid ${user?.uid}) can no longer reach ${home}`);
  return { folder, home, user, exists: true };
}

/** A pointer counts only if its target names this data directory: a copied checkout must not open the original's database. */
function followPointer(dataDir: string): string | undefined {
  const pointer = join(dataDir, POINTER);
  if (!existsSync(pointer)) return undefined;
  const home = readFileSync(pointer, 'utf8').trim();
  const folder = join(home, 'postgres');
  if (!existsSync(folder)) return undefined;
  const owner = readFileSync(join(home, 'data-directory'), 'utf8').trim();
  if (owner === dataDir) return folder;
  if (existsSync(join(owner, POINTER))) {
    throw new StartRefused(
      `DATA_DIR: ${dataDir} is a copy; its database belongs to ${owner}. Remove ${dataDir} to begin with an empty one.`,
    );
  }
  writeFileSync(join(home, 'data-directory'), `${dataDir}\n`);
  return folder;
}

/** The home of a database that is about to be made; outside of the data directory it gets a pointer to it. */
export function makeHome({ home, folder }: Cluster, dataDir: string): void {
  if (folder === join(dataDir, 'postgres')) return;
  for (const part of [SHARED_HOME, home]) {
    mkdirSync(part, { recursive: true });
    chmodSync(part, 0o755);
  }
  writeFileSync(join(home, 'data-directory'), `${dataDir}\n`);
  writeFileSync(join(dataDir, POINTER), `${home}\n`);
}

/** Takes a data directory away, and its database where that lies outside of it. Nothing may run on it any more. */
export function removeDataDirectory(dataDir: string): void {
  const pointer = join(dataDir, POINTER);
  const homes = existsSync(pointer) ? [readFileSync(pointer, 'utf8').trim()] : [];
  for (const folder of [...homes, dataDir]) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** A database of another major version is never touched: its files would have to be converted first. */
export function checkVersion(folder: string, binaries: Binaries): void {
  const found = readFileSync(join(folder, 'PG_VERSION'), 'utf8').trim();
  if (found !== String(binaries.major)) {
    throw new StartRefused(
      `DATA_DIR: the database in ${folder} is of PostgreSQL ${found}, the server brings ${binaries.major}. ` +
        `Set POSTGRES_BIN to the programs of PostgreSQL ${found}, or move the data by dump and restore.`,
    );
  }
}

/** Makes the files aside and renames them, so that an interrupted first start leaves nothing that looks like a database. */
export function initialiseCluster({ folder, home, user }: Cluster, binaries: Binaries, superuserPassword: string): void {
  const incomplete = join(home, 'postgres.incomplete');
  const passwordFile = join(home, 'postgres.password');
  for (const leftover of [incomplete, passwordFile]) rmSync(leftover, { recursive: true, force: true });
  mkdirSync(incomplete, { mode: 0o700 });
  writeFileSync(passwordFile, `${superuserPassword}\n`, { mode: 0o600, flag: 'wx' });
  if (user) for (const path of [incomplete, passwordFile]) chownSync(path, user.uid, user.gid);
  try {
    execFileSync(
      binaries.initdb,
      [
        '-D', incomplete, '-U', SUPERUSER, `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--encoding=UTF8',
        '--locale-provider=libc', '--locale=C', '--data-checksums',
      ],
      { ...user, cwd: '/', env: PLAIN_ENVIRONMENT, stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' },
    );
  } catch (error) {
    rmSync(incomplete, { recursive: true, force: true });
    const detail = (error as { stderr?: string }).stderr?.trim() || (error as Error).message;
    throw new StartRefused(`The embedded database could not be made in ${home}: ${detail}`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(incomplete, folder);
}
