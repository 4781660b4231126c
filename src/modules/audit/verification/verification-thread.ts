// Started as a worker thread: verifies the log of a database, with further threads for what can be read side by side.
import { parentPort, workerData } from 'node:worker_threads';
import type { RecordKeeper } from '../../../platform/audit/record-keepers.js';
import { logChecksOf } from './log-checks.js';
import { verifyDatabase } from './verify-database.js';
import { stepBack } from './worker-threads.js';
import type { VerificationAnswer, VerificationOrder } from './database-verifier.query.js';

/** Both cores of a small machine; more would only wait for the database. */
const THREADS = 2;
/** Calls go first. */
const NICENESS = 10;

const { keepers, organizations, agentId, anchors, ...order } = workerData as VerificationOrder;

/** The record keeper that a module exports. */
async function keeperOf(url: string): Promise<RecordKeeper> {
  const exported = Object.values((await import(url)) as Record<string, Partial<RecordKeeper>>);
  return exported.find(({ definedIn }) => definedIn === url) as RecordKeeper;
}

async function verify(): Promise<VerificationAnswer> {
  const known = await Promise.all(keepers.map(keeperOf));
  const found = await verifyDatabase({
    ...order, organizations, agentId,
    anchors: () => Promise.resolve(anchors),
    checks: (run, source) => logChecksOf(run, source, known, { organizations, agentId }),
    threads: THREADS,
    niceness: NICENESS,
  });
  return { found };
}

stepBack(NICENESS);
const answer = await verify().catch((error: Error & { code?: string }): VerificationAnswer => ({
  failed: { message: error.message, ...(error.code === undefined ? {} : { code: error.code }) },
}));
parentPort!.postMessage(answer);
