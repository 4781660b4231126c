import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const WORKER = fileURLToPath(new URL('./each-once-worker.js', import.meta.url));

/** Calls that differ, each of which can be made once. */
export interface EachOnceOrder {
  readonly url: string;
  readonly calls: readonly { readonly token: string; readonly body: string }[];
  readonly connections: number;
}

export interface EachOnceResult {
  readonly requestsPerSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Answers other than 2xx. */
  readonly failed: readonly string[];
}

/** In a process of its own; as fast as they are answered. */
export async function eachOnce(workFolder: string, order: EachOnceOrder): Promise<EachOnceResult> {
  const job = join(workFolder, 'each-once.json');
  writeFileSync(job, JSON.stringify(order));
  const worker = fork(WORKER, [job], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  return new Promise((done, failed) => {
    worker.once('message', (result) => done(result as EachOnceResult));
    worker.once('exit', (code) => failed(new Error(`the load ended with ${code}`)));
  });
}
