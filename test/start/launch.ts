import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { checkoutRoot } from '../../src/platform/config/checkout-root.js';
import { removeDataDirectory } from '../../src/platform/embedded/cluster.js';

/** Starts the server as a person does, in a process of its own, on a data directory of the test's. */
export interface Launched {
  readonly child: ChildProcess;
  /** Both streams, so far. */
  output(): string;
  /** Address, once the server answers; rejects with the output when it ends before. */
  readonly ready: Promise<string>;
  readonly exit: Promise<number | NodeJS.Signals | null>;
}

export interface LaunchOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly checkout?: string;
  readonly cwd?: string;
  readonly user?: { readonly uid: number; readonly gid: number };
}

const launched = new Set<Launched>();
const folders = new Set<string>();

/** Nothing of the tester's own settings: they might point at a real database. */
const PLAIN = { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: process.env.HOME ?? '/' };

export function launch({ env = {}, checkout = checkoutRoot(), cwd = '/', user }: LaunchOptions): Launched {
  const readyFile = join(freshFolder(user), 'ready.json');
  const child = spawn(process.execPath, [join(checkout, 'scripts', 'start.mjs')], {
    ...user, cwd, env: { ...PLAIN, COUNTERSIGN_READY_FILE: readyFile, ...env }, stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  child.stdout.on('data', (part: Buffer) => (text += part.toString()));
  child.stderr.on('data', (part: Buffer) => (text += part.toString()));
  const exit = new Promise<number | NodeJS.Signals | null>((done) => child.once('close', (code, signal) => done(code ?? signal)));
  const server: Launched = { child, output: () => text, ready: readyAt(readyFile, exit, () => text), exit };
  server.ready.catch(() => undefined);
  launched.add(server);
  return server;
}

async function readyAt(file: string, exit: Promise<unknown>, output: () => string): Promise<string> {
  let ended = false;
  void exit.then(() => (ended = true));
  while (!existsSync(file)) {
    if (ended) throw new Error(`the server ended before it was ready:\n${output()}`);
    await delay(20);
  }
  return (JSON.parse(readFileSync(file, 'utf8')) as { url: string }).url;
}

export async function end(server: Launched, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | NodeJS.Signals | null> {
  server.child.kill(signal);
  return server.exit;
}

/** A folder that goes with {@link cleanUp}, together with what a database of root's keeps elsewhere for it. */
export function freshFolder(user?: { readonly uid: number; readonly gid: number }): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-start-'));
  spawnSync('chmod', ['0711', folder]);
  if (user) spawnSync('chown', [`${user.uid}:${user.gid}`, folder]);
  folders.add(folder);
  return folder;
}

export async function cleanUp(): Promise<void> {
  for (const server of launched) {
    if (server.child.exitCode === null && server.child.signalCode === null) await end(server);
  }
  launched.clear();
  for (const folder of folders) removeDataDirectory(folder);
  folders.clear();
}

export async function freePort(): Promise<string> {
  const probe = createServer();
  await new Promise<void>((done) => probe.listen(0, '127.0.0.1', done));
  const address = probe.address();
  await new Promise<void>((done) => probe.close(() => done()));
  return String(address && typeof address === 'object' ? address.port : 0);
}

/** Process id of the database server on the folder, if one runs. */
export function databasePid(dataDir: string): number | undefined {
  const file = join(dataDir, 'postgres', 'postmaster.pid');
  return existsSync(file) ? parseInt(readFileSync(file, 'utf8'), 10) : undefined;
}

/** Whether others than their owner may enter the folder and all above it. */
export function isOpenToAll(folder: string): boolean {
  for (let path = folder; ; path = dirname(path)) {
    if ((statSync(path).mode & 0o005) !== 0o005) return false;
    if (path === dirname(path)) return true;
  }
}
