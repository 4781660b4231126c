// Run in a worker thread: verifies the log of a database, with further threads for what can be read side by side.
import type { RecordKeeper } from '../../../platform/audit/record-keepers.js';
import type { VerificationAnswer, VerificationOrder } from './database-verifier.query.js';
import { logCheckOf } from './log-checks.js';
import { verifyDatabase } from './verify-database.js';
import { stepBack } from './worker-threads.js';

/** Both cores of a small machine; more would only wait for the database. */
const THREADS = 2;
/** Calls go first. */
const NICENESS = 10;

export async function run({ keepers, organizations, agentId, anchors, ...order }: VerificationOrder): Promise<VerificationAnswer> {
  stepBack(NICENESS);
  try {
    const known = await Promise.all(keepers.map(keeperOf));
    const found = await verifyDatabase({
      ...order, organizations, agentId, threads: THREADS, niceness: NICENESS,
      anchors: () => Promise.resolve(anchors),
      check: (read, source) => logCheckOf(read, source, known, { organizations, agentId }),
    });
    return { found };
  } catch (error) {
    const { message, code } = error as Error & { code?: string };
    return { failed: { message, ...(code === undefined ? {} : { code }) } };
  }
}

async function keeperOf(url: string): Promise<RecordKeeper> {
  const exported = Object.values((await import(url)) as Record<string, Partial<RecordKeeper>>);
  return exported.find(({ definedIn }) => definedIn === url) as RecordKeeper;
}
