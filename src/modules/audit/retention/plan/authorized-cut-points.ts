import { vouchesFor, type VerifierKey } from '../../../../domain/audit/notes/note.js';
import { listsCutPoint, authorizationText, statementIn } from '../../../../domain/audit/notes/authorization-note.js';
import type { ReadStatement } from '../../../../platform/audit/record-keepers.js';
import { retentionRunPayloads } from './retention-plan.query.js';
import { RetentionRefused, type RecordedCutPoint } from '../retention-run.js';

/**
 * What rows of sweeps say, anybody may have written who owns the database. A sweep that goes on from a cut signs that this was one, and
 * one that deletes does it for good: so the entry that tells of it must list it, and be signed by the key that signs now.
 *
 * @throws SweepRefused
 */
export async function assertAuthorized(
  run: ReadStatement, organizationId: string, cuts: readonly RecordedCutPoint[], { instance, key }: { instance: string; key: VerifierKey },
): Promise<void> {
  const said = await retentionRunPayloads(run, organizationId, [...new Set(cuts.map(({ sweepEntryId }) => sweepEntryId))]);
  const signed = new Map<string, boolean>();
  for (const cut of cuts) {
    const { sweepEntryId: id, note } = cut;
    const told = statementIn({ payload: said.get(id) ?? '' });
    if (!signed.has(id)) signed.set(id, vouchesFor(note, authorizationText('sweep', instance, organizationId, told), [key]));
    if (signed.get(id) && listsCutPoint(told.metadata, cut)) continue;
    const what = `chain ${cut.chain} is said to be cut at ${cut.seq}, and no entry of a sweep that this server's key has signed says so`;
    throw new RetentionRefused(`${what}: nothing was deleted. countersign audit verify tells more.`);
  }
}
