import { publicHalf, type SigningKey } from '../../../domain/audit/notes/note.js';
import { authorizationOrigin, signedAgain } from '../../../domain/audit/notes/authorization-note.js';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { notesInForce, replaceNotes } from './erasure-notes.store.js';

/**
 * Has the next key sign, too, what the present one has signed of erasures whose entries stand: a retired key is believed nowhere. What
 * the present key has not signed is left as it is, for a verification to find.
 *
 * @param run statements of the transaction that replaces the key, behind the statement that does it: values are then either blank, and
 *   their erasure seen here, or blanked by nobody who has the present key
 */
export async function reSignErasures(
  run: RunStatement, instance: string, { present, next }: { readonly present: SigningKey; readonly next: SigningKey },
): Promise<void> {
  const by = publicHalf(present);
  const again = (await notesInForce(run)).flatMap((one) => {
    const note = signedAgain(one.note, authorizationOrigin('erasure', instance, one.organizationId), by, [present, next]);
    return note === undefined ? [] : [{ ...one, note }];
  });
  await replaceNotes(run, again);
}
