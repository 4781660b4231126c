import type { AuthorizedOperation } from '../../../domain/audit/notes/authorization-note.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { bounded, NOTE } from '../query/bounded-text.js';

// Notes by which the signing key vouches for the entries of retention runs and erasures: those of a run stand in its row, each of an
// erasure in a row of its own.

export interface AuthorizationNote {
  readonly organizationId: string;
  readonly entryId: string;
  readonly note: string;
}

/** Of the notes of a run what the database itself can take apart: an object, in which it can read every text. */
const READABLE_NOTES =
  String.raw`case when json_typeof(s.notes) = 'object' and strpos(s.notes::text, '\u') = 0 then s.notes else '{}' end`;

const NOTES: Readonly<Record<AuthorizedOperation, string>> = {
  sweep: `select s.organization_id, n.key as entry_id, coalesce(n.value, '') as note
    from audit_sweeps s cross join lateral json_each_text(${READABLE_NOTES}) n where s.state in ('recorded', 'done')`,
  erasure: `select n.organization_id, n.entry_id, ${bounded('n.note', NOTE)} as note from audit_erasure_notes n`,
};

/** The notes over these entries, by the entries' ids. */
export async function authorizationNotes(
  run: ReadStatement, operation: AuthorizedOperation, organizationId: string, ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = (await run(
    `select entry_id as id, note from (${NOTES[operation]}) n where organization_id = $1 and entry_id = any ($2::text[])`,
    [organizationId, ids],
  )) as { id: string; note: string }[];
  return new Map(rows.map(({ id, note }) => [id, note]));
}

/** The notes over entries that are in the log. */
export async function notesInForce(run: ReadStatement, operation: AuthorizedOperation): Promise<AuthorizationNote[]> {
  return (await run(
    `select n.organization_id as "organizationId", n.entry_id as "entryId", n.note from (${NOTES[operation]}) n
     where exists (select from audit_entries e where e.organization_id = n.organization_id and e.id = n.entry_id)`,
    [],
  )) as AuthorizationNote[];
}

export async function insertErasureNote(run: RunStatement, { organizationId, entryId, note }: AuthorizationNote): Promise<void> {
  await run('insert into audit_erasure_notes (organization_id, entry_id, note) values ($1, $2, $3)', [organizationId, entryId, note]);
}

const SIGNED = 'signed as (select * from unnest($1::text[], $2::text[], $3::text[]) as n(organization_id, entry_id, note))';

const REPLACE: Readonly<Record<AuthorizedOperation, string>> = {
  sweep: `with ${SIGNED}
    update audit_sweeps s set notes = (
      select json_object_agg(n.key, coalesce(signed.note, n.value)) from json_each_text(s.notes) n
      left join signed on signed.organization_id = s.organization_id and signed.entry_id = n.key)
    where exists (select from json_object_keys(${READABLE_NOTES}) as n(entry_id)
      join signed on signed.organization_id = s.organization_id and signed.entry_id = n.entry_id)`,
  erasure: `with ${SIGNED}
    update audit_erasure_notes n set note = signed.note from signed
    where n.organization_id = signed.organization_id and n.entry_id = signed.entry_id`,
};

export async function replaceNotes(run: RunStatement, operation: AuthorizedOperation, notes: readonly AuthorizationNote[]): Promise<void> {
  await run(REPLACE[operation], [
    notes.map(({ organizationId }) => organizationId), notes.map(({ entryId }) => entryId), notes.map(({ note }) => note),
  ]);
}

/** Forgets the notes over erasures whose entries were swept: the archive has them. */
export async function forgetSweptNotes(run: RunStatement, organizationId: string): Promise<void> {
  await run(
    `delete from audit_erasure_notes n where n.organization_id = $1
       and not exists (select from audit_entries e where e.organization_id = n.organization_id and e.id = n.entry_id)`,
    [organizationId],
  );
}
