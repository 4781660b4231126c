import type { RecordRow } from '../../domain/audit/record-row.js';
import type { Selection } from '../../domain/audit/verify.js';
import type { ReadStatement } from './record-keepers.js';

const BATCH = 2_000;

/** The end of a statement for {@link recordRows}: what it reads of the table with this alias, and in which order. */
export const pageOf = (t: string): string => `
  where (${t}.organization_id, ${t}.id) > ($1, $2) and ($4::text is null or ${t}.organization_id = $4)
    and ($5::text is null or ${t}.agent_id = $5)
  order by ${t}.organization_id, ${t}.id limit $3`;

type Told = Omit<RecordRow, 'members'>;

/** A row of which everything beyond what each record has is a member. */
export function recordOf<Row extends Told & RecordRow['members']>(row: Row): RecordRow {
  const { organizationId, id, agentId, capability, status, ...members } = row;
  return { organizationId, id, agentId, capability, status, members };
}

/**
 * Rows in batches, by their key: each statement begins behind the last row of the one before it, so no cursor has to stay open and memory
 * stays the same.
 *
 * @param sql ends with {@link pageOf}: in the order of organization and id, by code point
 */
export async function* recordRows<Row extends { readonly organizationId: string; readonly id: string }>(
  run: ReadStatement,
  sql: string,
  { organizationId, chain }: Selection,
  told: (row: Row) => RecordRow,
): AsyncGenerator<readonly RecordRow[]> {
  let after: readonly [string, string] = ['', ''];
  for (;;) {
    const rows = (await run(sql, [...after, BATCH, organizationId ?? null, chain ?? null])) as Row[];
    if (rows.length > 0) yield rows.map(told);
    const last = rows.at(-1);
    if (!last || rows.length < BATCH) return;
    after = [last.organizationId, last.id];
  }
}
