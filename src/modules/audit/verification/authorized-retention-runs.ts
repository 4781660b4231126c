import type { IsAuthorizedRun } from '../../../domain/audit/replay/state/shared-facts.js';
import { statementIn } from '../../../domain/audit/notes/authorization-note.js';
import { CheckpointVerifier } from '../../../domain/audit/notes/verify-checkpoints.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import { notesInForce } from '../keys/authorization-notes.store.js';
import { instanceName, verifierKeys } from '../checkpoints/checkpoint.query.js';

/**
 * Tells whether the entry of a retention run is signed by a key that is not retired. The list of keys is the database's own here; the check
 * of integrity proves that the log announced each of them.
 *
 * @param pinned only these keys are believed
 */
export async function authorizedRuns(run: ReadStatement, pinned: readonly string[] | undefined): Promise<IsAuthorizedRun> {
  const known = (await verifierKeys(run)).map(({ verifierKey: key, ...rest }) => ({ ...rest, key }));
  const keys = pinned ? known.filter(({ key }) => pinned.includes(key)) : known;
  const verifier = new CheckpointVerifier({ instance: await instanceName(run), keys });
  const notes = new Map((await notesInForce(run, 'sweep')).map(({ entryId, note }) => [entryId, note]));
  return ({ stored }) => {
    const statement = { organizationId: stored.organizationId, ...statementIn(stored) };
    return verifier.isOrdered('sweep', notes.get(stored.id) ?? null, statement, verifier.unretired);
  };
}
