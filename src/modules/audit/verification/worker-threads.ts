import { setPriority } from 'node:os';
import type { TaskFound, TaskRunner } from '../../../domain/audit/integrity/verification-tasks.js';
import { threadPool } from '../../../platform/threads/thread-pool.js';

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

/** Above some batches of rows with all that hangs on them; what lives longer is little. Without limits garbage would gather. */
const LIMITS = { maxYoungGenerationSizeMb: 12, maxOldGenerationSizeMb: 512 };

export interface Threads extends TaskRunner {
  /** What is in the middle of a task is not waited for. */
  end(): Promise<void>;
}

/** Starts threads that share the tasks, each taking the next one when it is done with its last. */
export function startThreads(count: number, setting: ThreadSetting): Threads {
  // Their timers, which keep connections alive, go on: an idle thread is not put to sleep.
  const pool = threadPool(new URL('./worker-thread.js', import.meta.url), {
    minThreads: count, maxThreads: count, atomics: 'disabled', workerData: setting, resourceLimits: LIMITS,
  });
  return {
    end: () => pool.destroy(),
    run: async (tasks, onEntries) => {
      pool.on('message', onEntries);
      return Promise.all(tasks.map((task) => pool.run(task) as Promise<TaskFound>)).finally(() => pool.off('message', onEntries));
    },
  };
}
