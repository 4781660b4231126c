// Threads of piscina's, made safe for a server: none of their faults ends the process, and none is printed with what they work on.
import { Piscina } from 'piscina';

/**
 * A pool of threads that run what a file exports, one task at a time each. What goes wrong is told to whoever waits for the task.
 * @param options as piscina's; `name` is the export that runs where a task does not say another, by default `run`
 */
export function threadPool(file: URL, options: Omit<NonNullable<ConstructorParameters<typeof Piscina>[0]>, 'filename'>): Piscina {
  const pool = new Piscina({
    filename: file.href, name: 'run', concurrentTasksPerWorker: 1, ...options,
    // piscina loads by `require` first: Node.js aborts the process when a thread is ended while it links modules that way.
    execArgv: [...process.execArgv, '--no-experimental-require-module'],
  });
  // An answer that comes after its task was given up is an error for piscina, whose message shows it: nobody waits for it any more.
  return pool.on('error', () => undefined);
}
