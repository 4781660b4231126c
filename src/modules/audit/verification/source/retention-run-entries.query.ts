import type { ReadStatement } from '../../../../platform/audit/record-keepers.js';
import { bounded, ENTRY } from '../../query/bounded-text.js';

/** Of the notes of a sweep what the database itself can take apart: an object, in which it can tell every text. */
export const READABLE_NOTES =
  String.raw`case when json_typeof(s.notes) = 'object' and strpos(s.notes::text, '\u') = 0 then s.notes else '{}' end`;

/** Payloads of an organization's entries of sweeps, by their ids, as far as they are there. */
export async function retentionRunPayloads(run: ReadStatement, organizationId: string, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = (await run(
    `select e.id, ${bounded('e.payload', ENTRY)} as payload from audit_entries e
     where e.organization_id = $1 and e.id = any ($2::text[]) and e.event = 'admin.audit_retention_sweep'`,
    [organizationId, ids],
  )) as { id: string; payload: string }[];
  return new Map(rows.map(({ id, payload }) => [id, payload]));
}

/** By which those who swept have signed what their entries say, by the entries' ids. */
export async function retentionRunNotes(run: ReadStatement, organizationId: string, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = (await run(
    `select n.key as id, n.value as note from audit_sweeps s cross join lateral json_each_text(${READABLE_NOTES}) n
     where s.organization_id = $1 and s.state in ('recorded', 'done') and n.key = any ($2::text[])`,
    [organizationId, ids],
  )) as { id: string; note: string }[];
  return new Map(rows.map(({ id, note }) => [id, note]));
}
