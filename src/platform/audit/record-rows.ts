import type { RecordRow } from '../../domain/audit/record-row.js';
import type { Selection } from '../../domain/audit/verify.js';
import type { ReadStatement } from './record-keepers.js';

const BATCH = 2_000;

/**
 * Rows in batches, by their key: each statement begins behind the last row of the one before it, so no cursor has to stay open and memory
 * stays the same.
 *
 * @param sql orders by organization and id, by code point; $1 and $2 are the last of these, $3 how many, $4 an organization or null,
 * $5 an agent or null
 */
export async function* recordRows<Row extends { readonly organizationId: string; readonly id: string }>(
  run: ReadStatement,
  sql: string,
  { organizationId, chain }: Selection,
  recordOf: (row: Row) => RecordRow,
): AsyncGenerator<readonly RecordRow[]> {
  let after: readonly [string, string] = ['', ''];
  for (;;) {
    const rows = (await run(sql, [...after, BATCH, organizationId ?? null, chain ?? null])) as Row[];
    if (rows.length > 0) yield rows.map(recordOf);
    const last = rows.at(-1);
    if (!last || rows.length < BATCH) return;
    after = [last.organizationId, last.id];
  }
}
