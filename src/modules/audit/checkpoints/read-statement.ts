import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';

/** The statements of a connection, for functions that only read. */
export function readStatementOf(run: RunStatement): ReadStatement {
  return (sql, parameters) => run(sql, [...parameters]);
}
