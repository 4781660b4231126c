import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CHECKOUT, TEST_ENVIRONMENT, runFolder, type Environment } from './test-run.js';

const READY_WITHIN_MS = 60_000;
const STOPPED_WITHIN_MS = 15_000;
const NEWS_WITHIN_MS = 250;
const OUTPUT_KEPT = 64_000;
/** Stack traces that name the sources: for whoever looks for something. Node reads 1,500 maps for them, an eighth of what a start costs. */
const STACKS = process.env.COUNTERSIGN_TEST_VERBOSE ? ['--enable-source-maps'] : [];

/** One run of the built server as a child process, from start to exit. */
export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** What it wrote so far, the end of it if it is long. */
  output(): string;
  /** Why it is gone although nobody asked it to go; undefined while all is well. */
  crash(): string | undefined;
  /** The same, for a caller that just lost its connection: news of the end may take a moment longer than that. */
  crashNews(): Promise<string | undefined>;
  /** Sends the signal and waits for the process to be gone. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/** Starts `dist/src/main.js`, as `npm start` does, and waits until it says that it is ready. */
export async function startServerProcess(env: Environment, port: number): Promise<ServerProcess> {
  const servers = join(runFolder(), 'servers');
  mkdirSync(servers, { recursive: true });
  const readyFile = join(servers, `${randomBytes(6).toString('hex')}.ready.json`);
  const child = spawn(process.execPath, [...STACKS, '--require', './test/support/load-at-once.cjs', 'dist/src/main.js'], {
    cwd: CHECKOUT,
    env: { ...inherited(), ...TEST_ENVIRONMENT, PORT: String(port), COUNTERSIGN_READY_FILE: readyFile, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const started = watch(child);
  const pidFile = join(servers, `${child.pid ?? 'none'}.pid`);
  writeFileSync(pidFile, '');
  void started.gone.then(() => rmSync(pidFile, { force: true }));

  const url = await readiness(started, readyFile);
  const crash = () => {
    const exit = started.exit();
    return exit !== undefined && !started.asked() ? `${exit}\n${started.output()}` : undefined;
  };
  return {
    url,
    pid: child.pid ?? 0,
    output: started.output,
    crash,
    crashNews: async () => {
      await Promise.race([started.gone, pause(NEWS_WITHIN_MS)]);
      return crash();
    },
    end: (signal) => started.end(signal),
  };
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => probe.once('error', reject).listen(0, '127.0.0.1', resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port was free');
  return address.port;
}

function watch(child: ChildProcess) {
  let output = '';
  let exit: string | undefined;
  let asked = false;
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString('utf8')).slice(-OUTPUT_KEPT);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  const gone = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      exit = `the server could not be started: ${error.message}`;
      resolve();
    });
    child.once('close', (code, signal) => {
      exit ??= `the server ended by ${signal ?? `exit code ${code}`}`;
      resolve();
    });
  });
  const end = async (signal: NodeJS.Signals) => {
    asked = true;
    if (exit !== undefined) return;
    child.kill(signal);
    const late = new AbortController();
    const timedOut = pause(STOPPED_WITHIN_MS, 'late', { signal: late.signal }).catch(() => undefined);
    const first = await Promise.race([gone.then(() => 'gone'), timedOut]);
    late.abort();
    if (first !== 'late') return;
    child.kill('SIGKILL');
    await gone;
    throw new Error(`the server did not end within ${STOPPED_WITHIN_MS} ms of ${signal}\n${output}`);
  };
  return { gone, end, output: () => output, exit: () => exit, asked: () => asked };
}

async function readiness(started: ReturnType<typeof watch>, readyFile: string): Promise<string> {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (Date.now() < deadline) {
    if (started.exit() !== undefined) throw new Error(`${started.exit()} before it was ready\n${started.output()}`);
    const url = readUrl(readyFile);
    if (url !== undefined) {
      rmSync(readyFile, { force: true });
      return url;
    }
    await pause(20);
  }
  const output = started.output();
  await started.end('SIGKILL');
  throw new Error(`the server was not ready within ${READY_WITHIN_MS} ms\n${output}`);
}

// The file may be seen before all of it is written: not yet JSON is not yet ready.
function readUrl(readyFile: string): string | undefined {
  try {
    const ready: unknown = JSON.parse(readFileSync(readyFile, 'utf8'));
    return typeof ready === 'object' && ready !== null && 'url' in ready && typeof ready.url === 'string' ? ready.url : undefined;
  } catch {
    return undefined;
  }
}

// Only what a process needs to run: neither Jest's options nor the settings of whoever runs the tests reach the server.
function inherited(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, LANG } = process.env;
  return { PATH, HOME, TMPDIR, LANG };
}
