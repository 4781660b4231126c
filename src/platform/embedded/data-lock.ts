import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, linkSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartRefused } from '../config/start-refused.js';

/** Who holds a data directory: a process id alone would also fit a later process that got the same number. */
interface Holder {
  readonly pid: number;
  readonly born: string;
}

/**
 * Takes the data directory for this process, until the returned function gives it back or the process ends, however it ends.
 * @throws StartRefused when another server of this machine holds it
 */
export function lockDataDirectory(dataDir: string): () => void {
  const file = join(dataDir, 'server.lock');
  const own = join(dataDir, `server.lock.${randomBytes(6).toString('hex')}`);
  const self: Holder = { pid: process.pid, born: processAt(process.pid).born };
  writeFileSync(own, JSON.stringify(self), { flag: 'wx' });
  // Readable by all, whatever the umask: root may serve a user's data directory, and that user must see that it is in use.
  chmodSync(own, 0o644);
  try {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      if (linkOnce(own, file)) return () => release(file);
      removeIfAbandoned(file);
    }
  } finally {
    unlinkSync(own);
  }
  throw inUse(dataDir, readHolder(file));
}

/** A link appears whole or not at all, so nobody reads a half-written lock. */
function linkOnce(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function removeIfAbandoned(file: string): void {
  const holder = readHolder(file);
  if (holder && isRunning(holder)) throw inUse(join(file, '..'), holder);
  // Moved away first and looked at again: another starter may have replaced the abandoned lock by its own since it was read.
  const aside = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  const moved = readHolder(aside);
  if (moved && isRunning(moved)) linkOnce(aside, file);
  rmSync(aside, { force: true });
}

function release(file: string): void {
  if (readHolder(file)?.pid === process.pid) rmSync(file, { force: true });
}

function inUse(dataDir: string, holder: Holder | undefined): StartRefused {
  const by = holder ? ` by the server with process id ${holder.pid}` : '';
  return new StartRefused(`DATA_DIR: the data directory ${dataDir} is in use${by}. Stop it, or set DATA_DIR to another folder.`);
}

function readHolder(file: string): Holder | undefined {
  try {
    const holder = JSON.parse(readFileSync(file, 'utf8')) as Partial<Holder>;
    return typeof holder.pid === 'number' && typeof holder.born === 'string' ? { pid: holder.pid, born: holder.born } : undefined;
  } catch {
    return undefined;
  }
}

/** A process that has ended and was not waited for by its parent keeps its number and its birth (state Z), and holds nothing. */
function isRunning({ pid, born }: Holder): boolean {
  if (!isAlive(pid)) return false;
  const seen = processAt(pid);
  return seen.born === born && !seen.hasEnded;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

interface SeenProcess {
  /** When it began, as the system writes it; with the machine's boot, since ticks are counted from there. Empty where nothing is known. */
  readonly born: string;
  readonly hasEnded: boolean;
}

export function processAt(pid: number): SeenProcess {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/s, '').trim().split(' ');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return { born: `${boot} ${fields[19]}`, hasEnded: /^[ZX]/.test(fields[0]!) };
  } catch {
    return { born: askPs(pid, 'lstart='), hasEnded: askPs(pid, 'stat=').startsWith('Z') };
  }
}

function askPs(pid: number, column: string): string {
  try {
    return execFileSync('ps', ['-o', column, '-p', String(pid)], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return '';
  }
}
