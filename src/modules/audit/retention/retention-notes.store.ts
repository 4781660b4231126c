import { decodeNotes } from '../../../domain/audit/integrity/row-decoding.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { READABLE_NOTES } from '../verification/source/retention-run-entries.query.js';
import type { RetentionRun } from './retention-run.js';

export type RetentionRunNotes = Required<Pick<RetentionRun, 'organizationId' | 'id' | 'notes'>>;

/** Of every sweep that an entry in the log tells of. Those whose cuts bind are among them, and those that vouch for an archive. */
export async function notesInForce(run: ReadStatement): Promise<RetentionRunNotes[]> {
  const rows = await run(
    `select s.organization_id as "organizationId", s.id, s.notes from audit_sweeps s
     where exists (select from json_object_keys(${READABLE_NOTES}) as told(entry_id)
       join audit_entries e on e.organization_id = s.organization_id and e.id = told.entry_id)`,
    [],
  );
  return (rows as unknown as RetentionRunNotes[]).map((row) => ({ ...row, notes: decodeNotes(row.notes) }));
}

export async function writeNotes(run: RunStatement, { organizationId, id, notes }: RetentionRunNotes): Promise<void> {
  await run('update audit_sweeps set notes = $3 where organization_id = $1 and id = $2', [organizationId, id, JSON.stringify(notes)]);
}
