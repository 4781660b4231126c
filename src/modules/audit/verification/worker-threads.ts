import { Worker } from 'node:worker_threads';
import type { Task, TaskFound, TaskRunner } from '../../../domain/audit/integrity/verification-tasks.js';

/** Names the connections of a verification, as `pg_stat_activity` shows them. */
export const VERIFICATION = 'countersign audit verify';

export interface ThreadSetting {
  readonly databaseUrl: string;
  /** The exported moment at which all of them stand. */
  readonly snapshot: string;
  readonly organizations: readonly string[] | 'all';
  /** 0 to 19: how far the threads step back behind the others of this machine. */
  readonly niceness: number;
}

export type ToThread = { readonly task: Task; readonly end?: undefined } | { readonly end: true; readonly task?: undefined };

export type FromThread =
  | { readonly ready: true }
  | { readonly entries: number }
  | { readonly found: TaskFound }
  | { readonly failed: Error };

/** Above some batches of rows with all that hangs on them; what lives longer is little. Without limits garbage would gather. */
const LIMITS = { maxYoungGenerationSizeMb: 12, maxOldGenerationSizeMb: 512 };

export interface Threads extends TaskRunner {
  end(): Promise<void>;
}

/**
 * Starts threads that share the tasks, each taking the next one when it is done with its last.
 *
 * @throws Error when one of them cannot reach the database
 */
export async function startThreads(count: number, setting: ThreadSetting): Promise<Threads> {
  const threads = Array.from({ length: count }, () => new Thread(setting));
  const end = async () => void (await Promise.all(threads.map((thread) => thread.end())));
  try {
    await Promise.all(threads.map((thread) => thread.started()));
  } catch (error) {
    await end();
    throw error;
  }
  return {
    end,
    run: async (tasks, onEntries) => {
      const found = new Array<TaskFound>(tasks.length);
      let next = 0;
      await Promise.all(threads.map(async (thread) => {
        while (next < tasks.length) {
          const at = next++;
          found[at] = await thread.do(tasks[at]!, onEntries);
        }
      }));
      return found;
    },
  };
}

class Thread {
  private readonly worker: Worker;
  private waiting: { onMessage: (message: FromThread) => void; failed: (error: Error) => void } | undefined;
  private gone: Error | undefined;

  constructor(setting: ThreadSetting) {
    this.worker = new Worker(new URL('./worker-thread.js', import.meta.url), { workerData: setting, resourceLimits: LIMITS });
    this.worker.on('message', (message: FromThread) => this.waiting?.onMessage(message));
    this.worker.on('error', (error) => this.lose(error));
    this.worker.on('exit', () => this.lose(new Error('a thread of the verification has ended')));
  }

  started(): Promise<void> {
    return this.answer((message, done) => 'ready' in message && done(undefined));
  }

  do(task: Task, onEntries: (entries: number) => void): Promise<TaskFound> {
    const answer = this.answer<TaskFound>((message, done) => {
      if ('entries' in message) onEntries(message.entries);
      if ('found' in message) done(message.found);
    });
    this.worker.postMessage({ task } satisfies ToThread);
    return answer;
  }

  async end(): Promise<void> {
    if (!this.gone) this.worker.postMessage({ end: true } satisfies ToThread);
    // What is in the middle of a task is not waited for.
    await this.worker.terminate();
  }

  private answer<Result>(heard: (message: FromThread, done: (result: Result) => void) => void): Promise<Result> {
    return new Promise((done, failed) => {
      if (this.gone) return failed(this.gone);
      const finish = <Value>(settle: (value: Value) => void) => (value: Value) => {
        this.waiting = undefined;
        settle(value);
      };
      this.waiting = {
        failed: finish(failed),
        onMessage: (message) => ('failed' in message ? finish(failed)(message.failed) : heard(message, finish(done))),
      };
    });
  }

  private lose(error: Error): void {
    this.gone ??= error;
    this.waiting?.failed(this.gone);
  }
}
