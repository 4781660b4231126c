import { readByCursor } from '../../../platform/database/statements/read-by-cursor.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';

const BATCH = 2_000;

let cursors = 0;

/** Reads by a server-side cursor of its own: memory stays the same however much there is. */
export function streamed<Row>(run: ReadStatement, sql: string, parameters: readonly unknown[]): AsyncGenerator<Row[], void, void> {
  return readByCursor<Row>(run, `audit_reading_${++cursors}`, sql, parameters, BATCH);
}
