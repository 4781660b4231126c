import { RECORD_KEEPERS } from '../../../src/cli/verification/verify-log.js';
import { logCheckOf } from '../../../src/modules/audit/verification/log-checks.js';
import type { Verification } from '../../../src/modules/audit/verification/verification-result.js';
import { verifyDatabase } from '../../../src/modules/audit/verification/verify-database.js';

/** Verifies a database as the command line does, on this thread; without anchors. */
export function verifiedLog(databaseUrl: string, agentId?: string): Promise<Verification> {
  return verifyDatabase({
    databaseUrl, organizations: 'all', threads: 0, ...(agentId === undefined ? {} : { agentId }),
    check: (run, source) => logCheckOf(run, source, RECORD_KEEPERS, { organizations: 'all', agentId }),
  });
}

/** The same without checks: for a log beside which rows were put by SQL, of which it cannot tell. */
export function integrityOf(databaseUrl: string): Promise<Verification> {
  return verifyDatabase({ databaseUrl, organizations: 'all', threads: 0 });
}
