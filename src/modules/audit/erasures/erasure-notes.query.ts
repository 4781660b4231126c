import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import { bounded, NOTE } from '../query/bounded-text.js';

/** By which those who erased have signed what their entries say, by the entries' ids. */
export async function erasureNotes(run: ReadStatement, organizationId: string, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = (await run(
    `select n.entry_id as id, ${bounded('n.note', NOTE)} as note from audit_erasure_notes n
     where n.organization_id = $1 and n.entry_id = any ($2::text[])`,
    [organizationId, ids],
  )) as { id: string; note: string }[];
  return new Map(rows.map(({ id, note }) => [id, note]));
}
