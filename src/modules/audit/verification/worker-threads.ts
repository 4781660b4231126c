import { on } from 'node:events';
import { setPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Task, TaskFound, TaskRunner } from '../../../domain/audit/integrity/verification-tasks.js';

/** Names the connections of a verification, as `pg_stat_activity` shows them. */
export const VERIFICATION = 'countersign audit verify';

/** Steps back behind the threads that serve calls: this thread alone, on Linux. @param niceness 0 to 19 */
export function stepBack(niceness: number): void {
  try {
    if (niceness > 0) setPriority(niceness);
  } catch {
    // Where a thread has no priority of its own, it competes with the others.
  }
}

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
  private readonly gone = new AbortController();

  constructor(setting: ThreadSetting) {
    this.worker = new Worker(new URL('./worker-thread.js', import.meta.url), { workerData: setting, resourceLimits: LIMITS });
    this.worker.on('error', (error) => this.gone.abort(error));
    this.worker.on('exit', () => this.gone.abort(new Error('a thread of the verification has ended')));
  }

  started(): Promise<true> {
    return this.answer((message) => 'ready' in message || undefined);
  }

  do(task: Task, onEntries: (entries: number) => void): Promise<TaskFound> {
    const answer = this.answer((message) => {
      if ('entries' in message) onEntries(message.entries);
      return 'found' in message ? message.found : undefined;
    });
    this.worker.postMessage({ task } satisfies ToThread);
    return answer;
  }

  async end(): Promise<void> {
    if (!this.gone.signal.aborted) this.worker.postMessage({ end: true } satisfies ToThread);
    // What is in the middle of a task is not waited for.
    await this.worker.terminate();
  }

  /** The first answer that `read` finds in a message. */
  private async answer<Result>(read: (message: FromThread) => Result | undefined): Promise<Result> {
    const { signal } = this.gone;
    try {
      for await (const [message] of on(this.worker, 'message', { signal }) as AsyncIterable<[FromThread]>) {
        if ('failed' in message) throw message.failed;
        const result = read(message);
        if (result !== undefined) return result;
      }
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    }
    throw new Error('a thread of the verification sends nothing any more');
  }
}
