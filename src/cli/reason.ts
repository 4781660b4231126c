import { withoutCredentials } from '../platform/logging/logger.js';

const NO_SUCH_TABLE = '42P01';

/** What went wrong, in one line for the operator. @param noTable what a database without our tables is called */
export function reason(error: unknown, noTable: string): string {
  if ((error as { code?: string }).code === NO_SUCH_TABLE) return noTable;
  if (error instanceof AggregateError && error.errors.length > 0) return reason(error.errors[0], noTable);
  return withoutCredentials(error instanceof Error && error.message !== '' ? error.message : String(error));
}
