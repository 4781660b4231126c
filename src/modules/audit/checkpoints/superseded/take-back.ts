import { openCheckpoint, originOf, PLATFORM_TREE } from '../../../../domain/audit/notes/checkpoint.js';
import { publicHalf } from '../../../../domain/audit/notes/note.js';
import type { RunStatement } from '../../../../platform/auth/credentials/credential-source.js';
import { checkpointsBelow } from '../checkpoint.query.js';
import { dropCheckpointsBehind, dropKeysAfter } from '../checkpoint.store.js';
import { readStatementOf } from '../read-statement.js';
import { otherKey, type Signer } from '../../keys/signer.js';

const AT_ONCE = 500;

/**
 * Where the database says that another key signs for which this one has not vouched: this one signs again, and what the other has signed
 * since is no longer kept. The entry that may have announced the other one stays: entries do.
 */
export async function takeBack(run: RunStatement, signer: Signer): Promise<void> {
  const other = await otherKey(run, signer);
  if (!other || other.isVouchedFor) return;
  await dropCheckpointsBehind(run, await lastSize(run, signer));
  await dropKeysAfter(run, signer.verifierKey);
}

/** Of the platform's tree, the newest size that this key has signed; 0 where it has signed none that is still there. */
async function lastSize(run: RunStatement, { instance, key }: Signer): Promise<number> {
  const [by, origin] = [[publicHalf(key)], originOf(instance, PLATFORM_TREE)];
  for (let below = Number.MAX_SAFE_INTEGER; ; ) {
    const some = await checkpointsBelow(readStatementOf(run), PLATFORM_TREE, { size: below, limit: AT_ONCE });
    const signed = some.find(({ note }) => 'checkpoint' in openCheckpoint(note, by, origin));
    if (signed || some.length < AT_ONCE) return signed?.size ?? 0;
    below = some.at(-1)!.size;
  }
}
