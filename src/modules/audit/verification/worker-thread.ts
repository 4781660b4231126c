// Started as a worker thread: does tasks of a verification, on a connection of its own that stands at the same moment as the others.
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { doTask } from '../../../domain/audit/integrity/verification-tasks.js';
import { sqlLogSource } from './source/log-source.query.js';
import { openSnapshot } from '../query/snapshots.query.js';
import { VERIFICATION, type FromThread, type ThreadSetting, type ToThread } from './worker-threads.js';

const port = parentPort!;
const { databaseUrl, snapshot, organizations, niceness } = workerData as ThreadSetting;

const tell = (message: FromThread) => port.postMessage(message);

try {
  // Of this thread alone (Linux): whoever serves calls goes first.
  if (niceness > 0) setPriority(niceness);
} catch {
  // Where a thread has no priority of its own, it competes.
}
const connection = await openSnapshot(databaseUrl, VERIFICATION, snapshot);
const source = sqlLogSource(connection.run, organizations);
port.on('message', ({ task, end }: ToThread) => {
  if (end) {
    void connection.close().then(() => port.close());
    return;
  }
  doTask(source, task, (entries) => tell({ entries })).then(
    (found) => tell({ found }),
    (error: unknown) => tell({ failed: error instanceof Error ? error : new Error(String(error)) }),
  );
});
tell({ ready: true });
