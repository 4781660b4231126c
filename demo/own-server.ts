import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { runningEmbeddedDatabase } from '../src/cli/embedded-address.js';
import { checkoutRoot } from '../src/platform/config/checkout-root.js';
import { removeDataDirectory } from '../src/platform/embedded/cluster.js';
import { withEnvironmentFile } from '../src/start/environment-file.js';
import { DemoStopped } from './api.js';

/** A server that exists for this demo only. */
export interface OwnServer {
  readonly url: string;
  readonly key: string;
  /** Its database, as the owner of the tables: for the tampering. */
  databaseUrl(): string;
  /** Ends it and removes everything that it has written. */
  stop(): Promise<void>;
}

const STARTS_WITHIN_MS = 60_000;
const ENDS_WITHIN_MS = 15_000;

/**
 * Starts a server as `npm start` does, with its own embedded database in a temporary folder and on a free port.
 *
 * @param settings besides
 */
export async function startOwnServer(
  signal: AbortSignal, onMade: (stop: () => Promise<void>) => void, settings: Readonly<Record<string, string>> = {},
): Promise<OwnServer> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-demo-'));
  // Started by root, the database runs as another user, who has to come through.
  if (process.getuid?.() === 0) chmodSync(folder, 0o711);
  const key = `svc_root_${randomBytes(32).toString('hex')}`;
  const readyFile = join(folder, 'ready.json');
  const dataDir = join(folder, 'data');
  const port = await freePort();
  const child = spawn(process.execPath, [join(checkoutRoot(), 'scripts', 'start.mjs')], {
    env: {
      ...plainEnvironment(), DATA_DIR: dataDir, PORT: String(port), ROOT_API_KEY: key, COUNTERSIGN_READY_FILE: readyFile, ...settings,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaint = '';
  child.stderr.on('data', (part: Buffer) => (complaint = (complaint + part.toString('utf8')).slice(-4_000)));
  const gone = new Promise<void>((done) => child.once('close', () => done()));
  child.once('error', (error) => (complaint += error.message));
  const stop = async () => {
    await end(child, gone);
    removeDataDirectory(dataDir);
    rmSync(folder, { recursive: true, force: true });
  };
  onMade(stop);

  const url = await ready(child, readyFile, () => complaint, signal);
  return {
    url,
    key,
    stop,
    databaseUrl: () => {
      const address = runningEmbeddedDatabase(dataDir);
      if (address === undefined) throw new DemoStopped('The database of the demo is not running any more.', 1);
      return address;
    },
  };
}

/**
 * Only what a process needs to run. Settings of a real installation, in the environment or in the checkout's `.env`,
 * must not reach this server: one of them might name a real database. Blank counts as unset.
 */
function plainEnvironment(): NodeJS.ProcessEnv {
  const blank = Object.fromEntries(Object.keys(withEnvironmentFile({})).map((name) => [name, '']));
  const { PATH, HOME, TMPDIR, LANG, SystemRoot, POSTGRES_BIN } = withEnvironmentFile(process.env);
  // As under npm start: the server ends with the process that started it, also when that one is killed.
  return { ...blank, PATH, HOME, TMPDIR, LANG, SystemRoot, POSTGRES_BIN, npm_lifecycle_event: 'start' };
}

async function ready(child: ChildProcess, file: string, complaint: () => string, signal: AbortSignal): Promise<string> {
  const deadline = Date.now() + STARTS_WITHIN_MS;
  while (!existsSync(file)) {
    signal.throwIfAborted();
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) {
      throw new DemoStopped(`The server of the demo did not start.\n${complaint()}`, 1);
    }
    if (Date.now() > deadline) throw new DemoStopped(`The server of the demo was not ready in time.\n${complaint()}`, 1);
    await pause(30, undefined, { signal });
  }
  return (JSON.parse(readFileSync(file, 'utf8')) as { url: string }).url;
}

async function end(child: ChildProcess, gone: Promise<void>): Promise<void> {
  if (child.pid === undefined) return;
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), ENDS_WITHIN_MS);
  await gone;
  clearTimeout(late);
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
