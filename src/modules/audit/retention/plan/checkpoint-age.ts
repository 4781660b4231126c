import { openCheckpoint, originOf, PLATFORM_TREE } from '../../../../domain/audit/notes/checkpoint.js';
import type { VerifierKey } from '../../../../domain/audit/notes/note.js';
import { checkInclusion } from '../../../../domain/audit/tree/tree-proofs.js';
import { leafHash, readHash } from '../../../../domain/audit/tree/rfc6962.js';
import type { ReadStatement } from '../../../../platform/audit/record-keepers.js';
import { newestCheckpoint } from '../../checkpoints/checkpoint.query.js';
import { platformLeafAt } from '../../checkpoints/tree-reader.query.js';
import { inclusionOf } from '../../proofs/proof.query.js';
import { RetentionRefused } from '../retention-run.js';

/**
 * That a checkpoint is as old as its row says. Rows are not signed; the leaf of the platform's tree that was made with it is, and
 * must say the same.
 *
 * @throws SweepRefused
 */
export async function assertCheckpointAge(
  run: ReadStatement, { platformSize, madeAt }: { platformSize: number; madeAt: string },
  { instance, key }: { instance: string; key: VerifierKey },
): Promise<void> {
  const newest = await newestCheckpoint(run);
  const opened = newest ? openCheckpoint(newest.note, [key], originOf(instance, PLATFORM_TREE)) : { wrong: 'is not there' };
  if ('wrong' in opened) throw new RetentionRefused(`the platform's newest checkpoint ${opened.wrong}: nothing was swept`);
  const { size, root } = opened.checkpoint;
  const index = platformSize - 1;
  const text = await platformLeafAt(run, index);
  const path = (await inclusionOf(run, PLATFORM_TREE, index, size)).map((hash) => readHash(hash)!);
  const { timestamp } = JSON.parse(text) as { timestamp: string };
  if (timestamp === madeAt && checkInclusion(leafHash(text), index, size, path, readHash(root)!)) return;
  throw new RetentionRefused(
    `a checkpoint says that it was made at ${madeAt}, and the signed leaf ${index} of the platform's tree does not: nothing was swept`);
}
