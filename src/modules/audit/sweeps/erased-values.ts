import type { VerifierKey } from '../../../domain/audit/note.js';
import { unlistedBlanks, type CheckedArchive } from '../../../domain/audit/verify-archive.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import { erasuresOf } from './archive-ties.query.js';
import { SweepRefused } from './sweep.js';

/**
 * Once they are archived, nobody asks of entries in the log any more. So what is blank in them must be listed by an erasure that this
 * server's key has signed, among them or in the log.
 *
 * @throws SweepRefused
 */
export async function mustBeErased(
  run: ReadStatement, organizationId: string, { blanks, erased }: Pick<CheckedArchive, 'blanks' | 'erased'>,
  { instance, key }: { instance: string; key: VerifierKey },
): Promise<void> {
  const left = new Map([...blanks].filter(([blank]) => !erased.has(blank)));
  if (left.size === 0) return;
  const listed = await erasuresOf(run, organizationId, { instance, keys: [key] });
  const [first] = unlistedBlanks(left, (blank) => listed.has(blank));
  if (first) throw new SweepRefused(`${first.detail}: nothing was deleted. countersign audit verify tells more.`);
}
