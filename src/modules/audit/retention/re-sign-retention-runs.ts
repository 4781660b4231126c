import { publicHalf, type SigningKey } from '../../../domain/audit/notes/note.js';
import { authorizationOrigin, signedAgain } from '../../../domain/audit/notes/authorization-note.js';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { notesInForce, writeNotes } from './retention-notes.store.js';

/**
 * Has the next key sign, too, what the present one has signed of sweeps whose entries stand: a retired key is believed nowhere. What
 * the present key has not signed is left as it is, for a verification to find.
 *
 * @param run statements of the transaction that replaces the key, behind the statement that does it: a sweep is then either recorded, and
 *   seen here, or refused
 */
export async function reSignRetentionRuns(
  run: RunStatement, instance: string, { present, next }: { readonly present: SigningKey; readonly next: SigningKey },
): Promise<void> {
  const by = publicHalf(present);
  for (const { organizationId, id, notes } of await notesInForce(run)) {
    const origin = authorizationOrigin('sweep', instance, organizationId);
    const signed = Object.entries(notes).map(([entry, note]) => [entry, signedAgain(note, origin, by, [present, next]) ?? note]);
    await writeNotes(run, { organizationId, id, notes: Object.fromEntries(signed) as Record<string, string> });
  }
}
