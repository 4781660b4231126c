import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import type { RunStatement } from '../../../platform/auth/credential-source.js';

/** The statements of a connection, for functions that only read. */
export function reading(run: RunStatement): ReadStatement {
  return (sql, parameters) => run(sql, [...parameters]);
}
