import { publicHalf, type SigningKey } from '../../../domain/audit/notes/note.js';
import { authorizationOrigin, signedAgain } from '../../../domain/audit/notes/authorization-note.js';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { notesInForce, replaceNotes } from './authorization-notes.store.js';

/**
 * Signs with the next key, too, what the present one has signed of retention runs and erasures whose entries are in the log: a retired key
 * is believed nowhere. What the present key has not signed is left as it is, for a verification to find.
 *
 * @param run statements of the transaction that replaces the key, behind the statement that does it: a run or an erasure is then either
 *   committed, and seen here, or refused
 */
export async function reSign(
  run: RunStatement, instance: string, { present, next }: { readonly present: SigningKey; readonly next: SigningKey },
): Promise<void> {
  const by = publicHalf(present);
  // In this order: who ends a retention run takes its row first, too.
  for (const operation of ['sweep', 'erasure'] as const) {
    const again = (await notesInForce(run, operation)).flatMap((one) => {
      const note = signedAgain(one.note, authorizationOrigin(operation, instance, one.organizationId), by, [present, next]);
      return note === undefined ? [] : [{ ...one, note }];
    });
    await replaceNotes(run, operation, again);
  }
}
