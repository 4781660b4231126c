import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const WORKER = fileURLToPath(new URL('./open-loop-worker.js', import.meta.url));

/** Calls that are sent at fixed moments, however long the answers take: whoever is slow is not spared. */
export interface OpenLoopOrder {
  readonly url: string;
  readonly tokens: readonly string[];
  readonly body: string;
  readonly perSecond: number;
  readonly seconds: number;
}

export interface OpenLoopResult {
  /** Calls that were answered a second, and those that were meant to be. */
  readonly perSecond: number;
  readonly wanted: number;
  readonly calls: number;
  /** Other answers than 200, by their status; 0: none at all. */
  readonly failed: Readonly<Record<number, number>>;
  /** Milliseconds from the moment at which a call was due, not from when the generator got round to it. */
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  /** Every call that was answered 200, in the order of its moment. */
  readonly each: readonly TimedCall[];
}

/** When a call was due, in milliseconds since the epoch, and how many milliseconds later its answer was there. */
export type TimedCall = readonly [dueAt: number, took: number];

export interface OpenLoop {
  /** Once the first second is over: connections are open, and the load is steady. */
  readonly steady: Promise<void>;
  readonly result: Promise<OpenLoopResult>;
  /** Sends no more: the load ends before its time. */
  stop(): void;
}

/** Starts such a load in a process of its own. */
export function startOpenLoop(workFolder: string, order: OpenLoopOrder): OpenLoop {
  const job = join(workFolder, 'open-loop.json');
  writeFileSync(job, JSON.stringify(order));
  const worker = fork(WORKER, [job], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  let ended: (error: Error) => void = () => undefined;
  const end = new Promise<never>((_, failed) => (ended = failed));
  worker.once('exit', (code) => ended(new Error(`the open-loop load ended with ${code}`)));
  const message = <Message>(kind: string) =>
    new Promise<Message>((done) => {
      worker.on('message', (sent: { kind: string; value: Message }) => {
        if (sent.kind === kind) done(sent.value);
      });
    });
  const result = Promise.race([message<OpenLoopResult>('result'), end]);
  result.catch(() => undefined);
  return { steady: Promise.race([message<void>('steady'), end]), result, stop: () => void worker.send('stop') };
}

/** @param sorted ascending */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}

/** Calls `act` at fixed moments for so long, or until `isOver`; resolves when all that it began has ended. */
export async function atFixedMoments(
  perSecond: number, seconds: number, act: (n: number, dueAt: number) => Promise<void>, isOver = () => false,
): Promise<void> {
  const count = perSecond * seconds;
  const begin = performance.now();
  const begun: Promise<void>[] = [];
  await new Promise<void>((done) => {
    const tick = () => {
      for (;;) {
        const n = begun.length;
        if (n === count || isOver()) return done();
        const dueAt = begin + (n * 1_000) / perSecond;
        const left = dueAt - performance.now();
        if (left > 0) return void setTimeout(tick, left);
        begun.push(act(n, dueAt));
      }
    };
    tick();
  });
  await Promise.all(begun);
}
