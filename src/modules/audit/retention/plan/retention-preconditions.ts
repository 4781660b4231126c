import { openCheckpoint, originOf, PLATFORM_TREE } from '../../../../domain/audit/notes/checkpoint.js';
import { vouchesFor } from '../../../../domain/audit/notes/note.js';
import { authorizationText, listsCutPoint, statementIn } from '../../../../domain/audit/notes/authorization-note.js';
import { unlistedBlanks, type ArchiveContents } from '../../../../domain/audit/retention/archive-contents.js';
import { checkInclusion } from '../../../../domain/audit/tree/tree-proofs.js';
import { leafHash, readHash } from '../../../../domain/audit/tree/rfc6962.js';
import type { ReadStatement } from '../../../../platform/audit/record-keepers.js';
import { newestCheckpoint } from '../../checkpoints/checkpoint.query.js';
import { platformLeafAt } from '../../checkpoints/tree-reader.query.js';
import { inclusionOf } from '../../proofs/proof.query.js';
import { type CurrentSigners, erasuresOf } from '../archives/archive-references.query.js';
import { RetentionRefused, type RecordedCutPoint } from '../retention-run.js';
import { retentionRunPayloads } from './retention-plan.query.js';

/**
 * That cut points are listed by entries that the key that signs now has signed: the database's owner may have written the rows, and
 * a retention run that goes on from a cut point signs that it was one. @throws RetentionRefused
 */
export async function assertAuthorized(
  run: ReadStatement, organizationId: string, cuts: readonly RecordedCutPoint[], { instance, keys }: CurrentSigners,
): Promise<void> {
  const said = await retentionRunPayloads(run, organizationId, [...new Set(cuts.map(({ sweepEntryId }) => sweepEntryId))]);
  const signed = new Map<string, boolean>();
  for (const cut of cuts) {
    const { sweepEntryId: id, note } = cut;
    const statement = statementIn({ payload: said.get(id) ?? '' });
    if (!signed.has(id)) signed.set(id, vouchesFor(note, authorizationText('sweep', instance, organizationId, statement), keys));
    if (signed.get(id) && listsCutPoint(statement.metadata, cut)) continue;
    const what = `chain ${cut.chain} is said to be cut at ${cut.seq}, and no entry of a sweep that this server's key has signed says so`;
    throw new RetentionRefused(`${what}: nothing was deleted. countersign audit verify tells more.`);
  }
}

/** That a checkpoint is as old as its row says: the signed leaf of the platform's tree must say the same. @throws RetentionRefused */
export async function assertCheckpointAge(
  run: ReadStatement, { platformSize, madeAt }: { platformSize: number; madeAt: string },
  { instance, keys }: CurrentSigners,
): Promise<void> {
  const newest = await newestCheckpoint(run);
  const opened = newest ? openCheckpoint(newest.note, keys, originOf(instance, PLATFORM_TREE)) : { wrong: 'is not there' };
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

/**
 * That blank values in entries that go are listed by an erasure that this server's key has signed, among them or in the log: nobody
 * verifies archived entries with the log's own. @throws RetentionRefused
 */
export async function assertErased(
  run: ReadStatement, organizationId: string, { blanks, erased }: Pick<ArchiveContents, 'blanks' | 'erased'>,
  { instance, keys }: CurrentSigners,
): Promise<void> {
  const left = new Map([...blanks].filter(([blank]) => !erased.has(blank)));
  if (left.size === 0) return;
  const listed = await erasuresOf(run, organizationId, { instance, keys });
  const [first] = unlistedBlanks(left, (blank) => listed.has(blank));
  if (first) throw new RetentionRefused(`${first.detail}: nothing was deleted. countersign audit verify tells more.`);
}
