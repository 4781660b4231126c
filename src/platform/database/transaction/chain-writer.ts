import type { PreparedEntry } from '../../../domain/audit/entry/prepare-entry.js';
import { textArray } from '../statements/text-array.js';

/** Parameters of `append_entries_v1`, and of functions that call it: `entryColumns` gives their values, one array a column. */
export const ENTRY_PARAMETERS = [
  'p_organizations', 'p_chains', 'p_ids', 'p_events', 'p_agents', 'p_actors', 'p_capabilities', 'p_outcomes', 'p_timestamps', 'p_payloads',
  'p_disclosures',
] as const;

/** The parameters behind these: `subjectColumns` gives their values. */
export const SUBJECT_PARAMETERS = ['p_subject_organizations', 'p_subject_users', 'p_subject_entries', 'p_subject_pointers'] as const;

export function entryColumns(entries: readonly PreparedEntry[]): Buffer[] {
  const columns: (string | null)[][] = [[], [], [], [], [], [], [], [], [], [], []];
  for (const entry of entries) {
    columns[0]!.push(entry.organizationId);
    columns[1]!.push(entry.chain);
    columns[2]!.push(entry.id);
    columns[3]!.push(entry.event);
    columns[4]!.push(entry.agentId ?? null);
    columns[5]!.push(entry.actorId);
    columns[6]!.push(entry.capability ?? null);
    columns[7]!.push(entry.outcome ?? null);
    columns[8]!.push(entry.timestamp);
    columns[9]!.push(entry.payload);
    columns[10]!.push(entry.disclosures);
  }
  return columns.map(textArray);
}

export function subjectColumns(entries: readonly PreparedEntry[]): Buffer[] {
  const columns: [string[], string[], string[], string[]] = [[], [], [], []];
  for (const entry of entries) {
    for (const subject of entry.subjects) {
      columns[0].push(entry.organizationId);
      columns[1].push(subject.userId);
      columns[2].push(entry.id);
      columns[3].push(subject.pointer);
    }
  }
  return columns.map(textArray);
}

/** The last statement of a unit of work. The heads are locked by then. */
export const APPEND_ENTRIES = `select append_entries_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`;

/**
 * The same where open requests are counted and effects are written, too: the three arrays of the counts and the four of the effects come
 * first. Answers the effects' rows, in their order.
 */
export const FLUSH_STATEMENT = `
  select effect_id as id, effect_created_at as "createdAt", effect_is_held as "isClaimed"
  from write_out_v1(${Array.from({ length: 22 }, (_, i) => `$${i + 1}`).join(', ')})`;
