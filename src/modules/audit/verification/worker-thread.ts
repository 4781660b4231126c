// Started as a worker thread: does tasks of a verification, on a connection of its own that stands at the same moment as the others.
import { parentPort, workerData } from 'node:worker_threads';
import { doTask } from '../../../domain/audit/integrity/verification-tasks.js';
import { sqlLogSource } from './source/log-source.query.js';
import { openSnapshot } from '../query/snapshots.query.js';
import { stepBack, VERIFICATION, type FromThread, type ThreadSetting, type ToThread } from './worker-threads.js';

const port = parentPort!;
const { databaseUrl, snapshot, organizations, niceness } = workerData as ThreadSetting;

const send = (message: FromThread) => port.postMessage(message);

stepBack(niceness);
const connection = await openSnapshot(databaseUrl, VERIFICATION, snapshot);
const source = sqlLogSource(connection.run, organizations);
port.on('message', ({ task, end }: ToThread) => {
  if (end) {
    void connection.close().then(() => port.close());
    return;
  }
  doTask(source, task, (entries) => send({ entries })).then(
    (found) => send({ found }),
    (error: unknown) => send({ failed: error instanceof Error ? error : new Error(String(error)) }),
  );
});
send({ ready: true });
