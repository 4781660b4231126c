import { withoutCredentials } from '../platform/logging/logger.js';

const NO_SUCH_TABLE = '42P01';
/** Wrong password, no such role or not allowed in, no such database. */
const NOT_LET_IN = ['28P01', '28000', '3D000'];
const LOOK = 'look at --database-url or DATABASE_URL';

/**
 * What went wrong, in one line for the operator.
 *
 * @param noTable what a database without our tables is called
 */
export function failureReason(error: unknown, noTable: string): string {
  const { code, syscall } = error as { code?: string; syscall?: string };
  if (code === NO_SUCH_TABLE) return noTable;
  if (error instanceof AggregateError && error.errors.length > 0) return failureReason(error.errors[0], noTable);
  const text = withoutCredentials(error instanceof Error && error.message !== '' ? error.message : String(error));
  // A call to a server says of itself what was wrong: what else is connected to is the database.
  if (syscall === 'connect' || syscall === 'getaddrinfo' || text === 'timeout expired') {
    return `the database cannot be reached (${text}): ${LOOK}`;
  }
  return NOT_LET_IN.includes(code ?? '') ? `the database does not let us in (${text}): ${LOOK}` : text;
}
