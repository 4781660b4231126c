import { readByCursor } from '../../../platform/database/statements/read-by-cursor.js';

/** Runs one statement of a transaction that stands still (repeatable read): TypeORM's runner, or a plain client. */
export type RunsSql = (sql: string, parameters: readonly unknown[]) => Promise<unknown[]>;

const BATCH = 2_000;

let cursors = 0;

/** Reads by a server-side cursor of its own: memory stays the same however much there is. */
export function streamed<Row>(run: RunsSql, sql: string, parameters: readonly unknown[]): AsyncGenerator<Row[], void, void> {
  return readByCursor<Row>(run, `audit_reading_${++cursors}`, sql, parameters, BATCH);
}
