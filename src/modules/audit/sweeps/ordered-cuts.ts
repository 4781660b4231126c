import { vouchesFor, type VerifierKey } from '../../../domain/audit/note.js';
import { listsCut, orderText, toldIn } from '../../../domain/audit/order-note.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import { sweepPayloads } from '../sweep-entries.query.js';
import { SweepRefused, type ToldCut } from './sweep.js';

/**
 * What rows of sweeps say, anybody may have written who owns the database. A sweep that goes on from a cut signs that this was one, and
 * one that deletes does it for good: so the entry that tells of it must list it, and be signed by the key that signs now.
 *
 * @throws SweepRefused
 */
export async function mustBeOrdered(
  run: ReadStatement, organizationId: string, cuts: readonly ToldCut[], { instance, key }: { instance: string; key: VerifierKey },
): Promise<void> {
  const said = await sweepPayloads(run, organizationId, [...new Set(cuts.map(({ sweepEntryId }) => sweepEntryId))]);
  const signed = new Map<string, boolean>();
  for (const cut of cuts) {
    const { sweepEntryId: id, note } = cut;
    const told = toldIn({ payload: said.get(id) ?? '' });
    if (!signed.has(id)) signed.set(id, vouchesFor(note, orderText('sweep', instance, organizationId, told), [key]));
    if (signed.get(id) && listsCut(told.metadata, cut)) continue;
    const what = `chain ${cut.chain} is said to be cut at ${cut.seq}, and no entry of a sweep that this server's key has signed says so`;
    throw new SweepRefused(`${what}: nothing was deleted. countersign audit verify tells more.`);
  }
}
