import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const START_PATIENCE_MS = 60_000;
const TICKS_PER_SECOND = 100;
const END_WITH_PARENT = new URL('./end-with-parent.js', import.meta.url).href;

export interface ProcessOrder {
  readonly script: string;
  readonly args?: readonly string[];
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly logFile: string;
}

/** A Node process of ours with its output in a file. A message from it, where it sends one, says that it is ready. */
export class NodeProcess {
  private constructor(
    private readonly child: ChildProcess,
    private readonly logFile: string,
  ) {}

  static spawn({ script, args = [], flags = [], env = {}, logFile }: ProcessOrder): NodeProcess {
    const log = openSync(logFile, 'a');
    const child = spawn(process.execPath, ['--import', END_WITH_PARENT, ...flags, script, ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    return new NodeProcess(child, logFile);
  }

  get pid(): number {
    return this.child.pid!;
  }

  async firstMessage<Message>(): Promise<Message> {
    return this.orEnd(new Promise<Message>((done) => this.child.once('message', (message) => done(message as Message))));
  }

  /** For the server, which announces itself by a file. */
  async file(path: string): Promise<void> {
    const appears = async () => {
      for (const end = Date.now() + START_PATIENCE_MS; !existsSync(path); await delay(50)) {
        if (Date.now() > end) throw new Error(`no ${path} within a minute`);
      }
    };
    await this.orEnd(appears());
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise((done) => this.child.once('exit', done));
    this.child.kill('SIGTERM');
    await ended;
  }

  private async orEnd<Result>(wanted: Promise<Result>): Promise<Result> {
    let onExit: (code: number | null) => void = () => undefined;
    const ended = new Promise<never>((_, failed) => {
      onExit = (code) => failed(new Error(`it ended with ${code}:\n${readFileSync(this.logFile, 'utf8').slice(-2_000)}`));
      this.child.once('exit', onExit);
    });
    try {
      return await Promise.race([wanted, ended]);
    } finally {
      this.child.off('exit', onExit);
    }
  }
}

/** Memory that a process holds in bytes, where the system says (Linux). */
export function residentBytes(pid: number): number | undefined {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readProc(`${pid}/status`))?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

/** Processor time that a process and its children have used, in seconds; 0 where the system does not say. */
export function cpuSeconds(pid: number, withChildren = false): number {
  const pids = withChildren ? [pid, ...childrenOf(pid)] : [pid];
  return pids.reduce((sum, one) => sum + ticksOf(one, one === pid && withChildren), 0) / TICKS_PER_SECOND;
}

function ticksOf(pid: number, withEnded: boolean): number {
  const stat = readProc(`${pid}/stat`);
  // After the name, which may hold anything: state is the first, utime the 12th, then stime, cutime, cstime.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ').map(Number);
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
  return user + system + (withEnded ? endedUser + endedSystem : 0);
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((name) => new RegExp(`\\) \\S ${pid} `).test(readProc(`${name}/stat`)))
      .map(Number);
  } catch {
    return [];
  }
}

function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return '';
  }
}

export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done) => void probe.listen(0, '127.0.0.1', done));
  const { port } = probe.address() as AddressInfo;
  await new Promise((done) => probe.close(done));
  return port;
}

/** What the processors did during a stretch, as shares of their time: what a figure may have suffered from. */
export interface MachineUse {
  readonly idle: number;
  /** Taken by other machines on the same host. */
  readonly steal: number;
}

/** Columns of the first line of /proc/stat, in ticks since the start of the machine (proc_stat(5)). */
const [IDLE, IO_WAIT, STEAL, COLUMNS] = [3, 4, 7, 8];

/** Begins a stretch. @returns what ends it: its use, or undefined where the system tells of none */
export function watchMachine(): () => MachineUse | undefined {
  const before = ticks();
  return () => {
    const after = ticks();
    if (!before || !after) return undefined;
    const spent = after.map((value, column) => value - before[column]!);
    const all = spent.reduce((sum, value) => sum + value, 0);
    return { idle: (spent[IDLE]! + spent[IO_WAIT]!) / all, steal: spent[STEAL]! / all };
  };
}

function ticks(): number[] | undefined {
  try {
    return readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]!.trim().split(/\s+/).slice(1, 1 + COLUMNS).map(Number);
  } catch {
    return undefined;
  }
}
