// Run in a worker thread: does tasks of a verification, on a connection of its own that stands at the same moment as the others.
import { parentPort, workerData } from 'node:worker_threads';
import type { LogSource } from '../../../domain/audit/integrity/log-source.js';
import { doTask, type Task, type TaskFound } from '../../../domain/audit/integrity/verification-tasks.js';
import { openSnapshot } from '../query/snapshots.query.js';
import { sqlLogSource } from './source/log-source.query.js';
import { stepBack, type ThreadSetting, VERIFICATION } from './worker-threads.js';

let source: Promise<LogSource> | undefined;

async function open(): Promise<LogSource> {
  const { databaseUrl, snapshot, organizations, niceness } = workerData as ThreadSetting;
  stepBack(niceness);
  return sqlLogSource((await openSnapshot(databaseUrl, VERIFICATION, snapshot)).run, organizations);
}

/** Tells the thread that started this one how many entries it has read. */
export async function run(task: Task): Promise<TaskFound> {
  return doTask(await (source ??= open()), task, (entries) => parentPort!.postMessage(entries));
}
