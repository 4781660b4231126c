import { KEEPERS } from '../../src/cli/verify-from.js';
import { judgesOf } from '../../src/modules/audit/judging/judges.js';
import type { Verification } from '../../src/modules/audit/verification.js';
import { verifyDatabase } from '../../src/modules/audit/verification/verify-database.js';

/** Verifies a database as the command line does, on this thread; without anchors. */
export function verifiedLog(databaseUrl: string, agentId?: string): Promise<Verification> {
  return verifyDatabase({
    databaseUrl, organizations: 'all', threads: 0, ...(agentId === undefined ? {} : { agentId }),
    judges: (run, source) => judgesOf(run, source, KEEPERS, { organizations: 'all', agentId }),
  });
}

/** The same without judges: for a log beside which rows were put by SQL, of which it cannot tell. */
export function integrityOf(databaseUrl: string): Promise<Verification> {
  return verifyDatabase({ databaseUrl, organizations: 'all', threads: 0 });
}
