import { spawn, type ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { CHECKOUT } from './test-run.js';

/** Stack traces that name the sources: for whoever looks for something. Node reads 1,500 maps for them, an eighth of what a start costs. */
const STACKS = process.env.COUNTERSIGN_TEST_VERBOSE ? ['--enable-source-maps'] : [];

export const NODE_ARGUMENTS = [...STACKS, '--require', './test/support/servers/load-at-once.cjs'];

/** What a host writes to both of its streams behind the last word of a server. */
export const END_OF_OUTPUT = '\0';

/** Processes that have run a server and wait for the next; only Jest has them (scripts/test/environment.mjs). */
interface IdleServers {
  take(): ChildProcess | undefined;
  giveBack(host: ChildProcess): void;
}

interface EndOfServer {
  readonly exitCode: number;
  /** What still runs in the process and should not: timers, sockets. */
  readonly left: readonly string[];
}

const { idleServers } = globalThis as { idleServers?: IdleServers };
const hosts = new WeakSet<ChildProcess>();

/** A process that runs this server, and others before and after it; undefined where processes are not handed on. */
export function startInHost(env: NodeJS.ProcessEnv): ChildProcess | undefined {
  if (idleServers === undefined) return undefined;
  if (env.NODE_OPTIONS !== undefined) throw new Error('a server with Node options needs a process of its own: ownProcess: true');
  const host = idleServers.take() ?? startHost();
  hosts.add(host);
  // One that has just gone says so by its end.
  host.send({ env }, () => undefined);
  return host;
}

function startHost(): ChildProcess {
  return spawn(process.execPath, [...NODE_ARGUMENTS, 'test/support/servers/run-servers.mjs'], {
    cwd: CHECKOUT,
    env: inherited(),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
}

/** Resolves when the server of this host has ended as it would have exited, and all its output is here. Hands the host on. */
export async function endedInHost(host: ChildProcess): Promise<string> {
  if (!hosts.has(host) || !host.stdout || !host.stderr) return new Promise(() => undefined);
  const [{ exitCode, left }] = await Promise.all([said(host), read(host.stdout), read(host.stderr)]);
  for (const event of ['message', 'error', 'close']) host.removeAllListeners(event);
  if (left.length === 0) idleServers?.giveBack(host);
  else host.disconnect();
  return `the server ended by exit code ${exitCode}`;
}

const said = (host: ChildProcess) => new Promise<EndOfServer>((resolve) => host.once('message', (end) => resolve(end as EndOfServer)));

function read(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    const look = (chunk: Buffer) => {
      if (!chunk.includes(END_OF_OUTPUT)) return;
      stream.off('data', look);
      resolve();
    };
    stream.on('data', look);
  });
}

/** Only what a process needs to run: neither Jest's options nor the settings of whoever runs the tests reach the server. */
export function inherited(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, LANG } = process.env;
  return { PATH, HOME, TMPDIR, LANG };
}
