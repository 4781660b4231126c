import type { VerifierKey } from '../../../../domain/audit/notes/note.js';
import { unlistedBlanks, type ArchiveContents } from '../../../../domain/audit/retention/archive-contents.js';
import type { ReadStatement } from '../../../../platform/audit/record-keepers.js';
import { erasuresOf } from '../archives/archive-references.query.js';
import { RetentionRefused } from '../retention-run.js';

/**
 * Once they are archived, nobody asks of entries in the log any more. So what is blank in them must be listed by an erasure that this
 * server's key has signed, among them or in the log.
 *
 * @throws SweepRefused
 */
export async function assertErased(
  run: ReadStatement, organizationId: string, { blanks, erased }: Pick<ArchiveContents, 'blanks' | 'erased'>,
  { instance, key }: { instance: string; key: VerifierKey },
): Promise<void> {
  const left = new Map([...blanks].filter(([blank]) => !erased.has(blank)));
  if (left.size === 0) return;
  const listed = await erasuresOf(run, organizationId, { instance, keys: [key] });
  const [first] = unlistedBlanks(left, (blank) => listed.has(blank));
  if (first) throw new RetentionRefused(`${first.detail}: nothing was deleted. countersign audit verify tells more.`);
}
