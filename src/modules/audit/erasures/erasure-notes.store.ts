import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';

export interface ErasureNote {
  readonly organizationId: string;
  readonly entryId: string;
  readonly note: string;
}

export async function insertNote(run: RunStatement, { organizationId, entryId, note }: ErasureNote): Promise<void> {
  await run('insert into audit_erasure_notes (organization_id, entry_id, note) values ($1, $2, $3)', [organizationId, entryId, note]);
}

/** Of every erasure whose entry stands in the log. */
export async function notesInForce(run: RunStatement): Promise<ErasureNote[]> {
  const rows = await run(
    `select n.organization_id as "organizationId", n.entry_id as "entryId", n.note from audit_erasure_notes n
     where exists (select from audit_entries e where e.organization_id = n.organization_id and e.id = n.entry_id)`,
    [],
  );
  return rows as unknown as ErasureNote[];
}

export async function replaceNotes(run: RunStatement, notes: readonly ErasureNote[]): Promise<void> {
  await run(
    `update audit_erasure_notes n set note = s.note from unnest($1::text[], $2::text[], $3::text[]) as s(organization_id, entry_id, note)
     where n.organization_id = s.organization_id and n.entry_id = s.entry_id`,
    [notes.map(({ organizationId }) => organizationId), notes.map(({ entryId }) => entryId), notes.map(({ note }) => note)],
  );
}

/** Where the entry was swept: its archive has the note. */
export async function forgetSweptNotes(run: RunStatement, organizationId: string): Promise<void> {
  await run(
    `delete from audit_erasure_notes n where n.organization_id = $1
       and not exists (select from audit_entries e where e.organization_id = n.organization_id and e.id = n.entry_id)`,
    [organizationId],
  );
}
