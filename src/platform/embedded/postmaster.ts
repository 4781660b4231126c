import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync, readlinkSync, realpathSync, rmSync, statSync, truncateSync } from 'node:fs';
import { createServer } from 'node:net';
import { totalmem } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { StartRefused } from '../config/start-refused.js';
import { PLAIN_ENVIRONMENT, type Binaries } from './binaries.js';
import type { Cluster } from './cluster.js';
import { isAlive } from './data-lock.js';

const LOG_LIMIT = 8 * 1024 * 1024;

/** Settings that every start gives; the caller's come after them. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_permissions: '0700',
  max_connections: '200',
  password_encryption: 'scram-sha-256',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'warning',
} as const;

const SMALLEST_CACHE_MB = 128;
const LARGEST_CACHE_MB = 1_024;
const MEGABYTE = 2 ** 20;

/** PostgreSQL's own default is for machines of long ago: an eighth of the memory, of which it takes what it comes to use. */
export function cacheFor(bytes: number): string {
  return `${Math.min(LARGEST_CACHE_MB, Math.max(SMALLEST_CACHE_MB, Math.floor(bytes / 8 / MEGABYTE)))}MB`;
}

/** Of this machine, or of the container around us. */
function memory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(totalmem(), limit) : totalmem();
}

/**
 * Ends a server that a killed process of ours left behind. Its process is recognised by the folder that it works in, never by
 * its number alone: after a restart of the machine that number may be anybody's, and then only the stale file goes, which
 * would keep PostgreSQL from starting. (PostgreSQL's shared-memory check still guards against a second server on the files.)
 */
export async function endOrphan(folder: string, log: (line: string) => void): Promise<void> {
  const pidFile = join(folder, 'postmaster.pid');
  const pid = readPid(pidFile);
  if (pid === undefined || !isAlive(pid)) return;
  if (!isPostmasterOf(pid, folder)) {
    log(`removing ${pidFile}: process ${pid} is not its server`);
    rmSync(pidFile, { force: true });
    return;
  }
  log(`ending the database server ${pid} that an earlier process left behind`);
  await endProcess(pid, folder);
}

function readPid(pidFile: string): number | undefined {
  try {
    const pid = parseInt(readFileSync(pidFile, 'utf8'), 10);
    return pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** By the folder that the process works in; where the system hides that (root without all powers), by its command line. */
export function isPostmasterOf(pid: number, folder: string): boolean {
  try {
    if (process.platform !== 'linux') {
      const command = execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
      return /^\S*postgres /.test(command) && command.includes(` -D ${folder} `);
    }
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    if (basename(command[0] ?? '') !== 'postgres') return false;
    return (workingFolder(pid) ?? command[command.indexOf('-D') + 1]) === realpathSync(folder);
  } catch {
    return false;
  }
}

function workingFolder(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

/** Fast shutdown (clients are disconnected, everything is written), and the hard way only when that hangs. */
async function endProcess(pid: number, folder: string): Promise<void> {
  for (const [signal, patience] of [['SIGINT', 15_000], ['SIGQUIT', 5_000], ['SIGKILL', 2_000]] as const) {
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    for (const end = Date.now() + patience; Date.now() < end; ) {
      // Not "is alive": where nobody reaps it, the ended process keeps its number.
      if (!isPostmasterOf(pid, folder)) return;
      await delay(10);
    }
  }
  throw new StartRefused(`The database server ${pid} that an earlier process left behind cannot be ended`);
}

export async function freePort(): Promise<number> {
  const probe = createServer();
  return new Promise((done, failed) => {
    probe.once('error', failed);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => (address && typeof address === 'object' ? done(address.port) : failed(new Error('no port'))));
    });
  });
}

/** A running server: PostgreSQL's own process, child of ours. */
export class Postmaster {
  /** Settles when the process has ended, whoever ended it. */
  readonly ended: Promise<void>;
  private readonly onExit = () => void this.child.kill('SIGINT');

  private constructor(private readonly child: ChildProcess, readonly port: number, private readonly logFile: string) {
    this.ended = new Promise((done) => {
      child.once('exit', () => done());
      child.once('error', () => done());
    });
    process.on('exit', this.onExit);
    void this.ended.then(() => process.off('exit', this.onExit));
  }

  static spawn(
    cluster: Cluster,
    binaries: Binaries,
    options: { port: number; logFile: string; sockets?: string | undefined; settings?: Readonly<Record<string, string>> },
  ): Postmaster {
    const { port, logFile, sockets = '' } = options;
    const own = { ...SETTINGS, shared_buffers: cacheFor(memory()), unix_socket_directories: quoted(sockets) };
    const settings = { ...own, ...options.settings, port: String(port) };
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const log = openLog(logFile);
    try {
      // In a process group of its own: Ctrl-C in the terminal is for our server, which ends the database after its last request.
      // Its messages go to a file: a pipe would break when we are killed, and it outlives us then.
      const child = spawn(binaries.postgres, ['-D', cluster.folder, ...args], {
        ...cluster.user, cwd: '/', env: PLAIN_ENVIRONMENT, detached: true, stdio: ['ignore', log, log],
      });
      child.unref();
      return new Postmaster(child, port, logFile);
    } finally {
      closeSync(log);
    }
  }

  get running(): boolean {
    return this.child.pid !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** What the server said last, for the message that explains why it did not start. */
  lastWords(): string {
    try {
      return readFileSync(this.logFile, 'utf8').trim().split('\n').slice(-6).join('\n');
    } catch {
      return '';
    }
  }

  async stop(): Promise<void> {
    for (const [signal, patience] of [['SIGINT', 15_000], ['SIGQUIT', 5_000], ['SIGKILL', 5_000]] as const) {
      if (!this.running) return;
      this.child.kill(signal);
      const waited = new AbortController();
      await Promise.race([this.ended, delay(patience, undefined, { signal: waited.signal }).catch(() => undefined)]);
      waited.abort();
    }
  }
}

/** As a list of one in PostgreSQL's settings, or of none. */
function quoted(folder: string): string {
  return folder === '' ? '' : `"${folder.replaceAll('"', '""')}"`;
}

function openLog(file: string): number {
  try {
    if (statSync(file).size > LOG_LIMIT) truncateSync(file);
  } catch {
    // The first start has no log yet.
  }
  return openSync(file, 'a', 0o600);
}
