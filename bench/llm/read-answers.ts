import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const WORKER = fileURLToPath(new URL('./streams-worker.js', import.meta.url));

export interface ReadOrder {
  readonly url: string;
  readonly tokens: readonly string[];
  readonly body: string;
  /** How many answers are read at once. */
  readonly lanes: number;
  /** For how long new ones are begun; 0: one in each lane. */
  readonly seconds: number;
  /** Whether the client goes away in the middle of each. */
  readonly isLeft?: boolean;
}

export interface ReadResult {
  readonly answers: number;
  /** Events a second, of all lanes. */
  readonly perSecond: number;
  readonly bytes: number;
  /** Milliseconds from the call to the first piece of its answer, and to its end; medians. */
  readonly first: number;
  readonly whole: number;
  /** When the client went, in milliseconds since 1970. */
  readonly lefts: readonly number[];
}

/** Reads answers, streams or whole, in a process of its own. */
export function readAnswers(order: ReadOrder, workFolder: string): Promise<ReadResult> {
  const job = join(workFolder, 'answers.json');
  writeFileSync(job, JSON.stringify(order));
  return new Promise((done, failed) => {
    const worker = fork(WORKER, [job], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    worker.once('message', (result) => done(result as ReadResult));
    worker.once('exit', (code) => failed(new Error(`the reader of answers ended with ${code}`)));
  });
}
