import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { END_OF_OUTPUT, endedInHost, inherited, NODE_ARGUMENTS, startInHost } from './server-host.js';
import { CHECKOUT, TEST_ENVIRONMENT, runFolder, type Environment } from './test-run.js';

/** Against a server that never gets there: a busy machine takes its time. */
const READY_WITHIN_MS = 240_000;
const STOPPED_WITHIN_MS = 60_000;
const NEWS_WITHIN_MS = 250;
const OUTPUT_KEPT = 64_000;
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

/**
 * Starts a server as `npm start` does, and waits until it says that it is ready. Under Jest the process may have run another test's
 * server before, and will run another's after it, unless this one is to have its own.
 */
export async function startServerProcess(env: Environment, port: number, { ownProcess = false } = {}): Promise<ServerProcess> {
  const servers = join(runFolder(), 'servers');
  mkdirSync(servers, { recursive: true });
  const readyFile = join(servers, `${randomBytes(6).toString('hex')}.ready.json`);
  const settings = { ...inherited(), ...TEST_ENVIRONMENT, PORT: String(port), COUNTERSIGN_READY_FILE: readyFile, ...env };
  const child = (ownProcess ? undefined : startInHost(settings)) ?? startMain(settings);
  const pidFile = join(servers, `${child.pid ?? 'none'}.pid`);
  writeFileSync(pidFile, '');
  const started = watch(child);
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

function startMain(env: NodeJS.ProcessEnv): ChildProcess {
  return spawn(process.execPath, [...NODE_ARGUMENTS, 'dist/src/main.js'], { cwd: CHECKOUT, env, stdio: ['ignore', 'pipe', 'pipe'] });
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
  const streams = [child.stdout, child.stderr];
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString('utf8').replaceAll(END_OF_OUTPUT, '')).slice(-OUTPUT_KEPT);
  };
  for (const stream of streams) stream?.on('data', keep);
  const gone = Promise.race([goneProcess(child), endedInHost(child)]).then((how) => {
    exit = how;
    for (const stream of streams) stream?.off('data', keep);
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

async function goneProcess(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let failure: string | undefined;
    child.once('error', (error) => {
      failure = `the server could not be started: ${error.message}`;
      if (child.pid === undefined) resolve(failure);
    });
    child.once('close', (code, signal) => resolve(failure ?? `the server ended by ${signal ?? `exit code ${code}`}`));
  });
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
