import type { RunStatement } from '../../../platform/auth/credential-source.js';
import type { Sweep } from './sweep.js';

export type NotesOfSweep = Required<Pick<Sweep, 'organizationId' | 'id' | 'notes'>>;

/** Of every sweep that is the last to have cut some chain. */
export async function notesInForce(run: RunStatement): Promise<NotesOfSweep[]> {
  const rows = await run(
    `select s.organization_id as "organizationId", s.id, s.notes from audit_sweeps s join (
       select distinct newest.organization_id, newest.id from (
         select distinct on (c.organization_id, cut.chain) c.organization_id, c.id
         from audit_sweeps c cross join lateral json_to_recordset(c.cuts) as cut(chain text)
         where c.state in ('recorded', 'done') order by c.organization_id, cut.chain, c.made_at desc, c.id desc) newest) binding
       on binding.organization_id = s.organization_id and binding.id = s.id`,
    [],
  );
  return rows as unknown as NotesOfSweep[];
}

export async function writeNotes(run: RunStatement, { organizationId, id, notes }: NotesOfSweep): Promise<void> {
  await run('update audit_sweeps set notes = $3 where organization_id = $1 and id = $2', [organizationId, id, JSON.stringify(notes)]);
}
