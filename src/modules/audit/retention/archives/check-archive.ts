import type { VerifierKey } from '../../../../domain/audit/notes/note.js';
import {
  readArchive, type ArchiveClaim, type ArchiveContents, type ArchiveFinding,
} from '../../../../domain/audit/retention/archive-contents.js';
import type { ArchiveStore } from '../../../../platform/audit/archive-store.js';
import { fileVerifier } from '../../exports/stand-alone-verifier.js';
import { disclosuresName, skeletonName } from './archive-names.js';

/** An archive as a retention run has recorded it; digests are hex SHA-256. */
export interface RecordedArchive extends ArchiveClaim {
  readonly sweepId: string;
  readonly skeleton: string | null;
  /** Of the values as they were archived: values may have been erased since. */
  readonly disclosures: string | null;
}

/**
 * Checks the two objects of an archive: the skeleton by its recorded digest, and by the verifier of files for what it says; each value by
 * the commitment of its entry.
 *
 * @param keys that are trusted; no key is trusted because the archive names it
 */
export async function checkArchive(
  archive: Pick<ArchiveStore, 'read'>, { sweepId, skeleton, disclosures, ...claim }: RecordedArchive, keys: readonly VerifierKey[],
): Promise<ArchiveContents> {
  const { organizationId } = claim;
  const [skeletonObject, values] = [skeletonName.of(organizationId, sweepId), disclosuresName.of(organizationId, sweepId)];
  const contents = await readArchive({ skeleton: archive.read(skeletonObject), disclosures: archive.read(values) }, claim, keys);
  const findings = [...contents.findings, ...(await findingsInSkeleton(archive.read(skeletonObject), keys))];
  const isRecorded = contents.digests.skeleton === skeleton;
  if (!isRecorded) findings.push(altered('archive', 0, 'has a skeleton that is not the one whose digest was recorded'));
  const isExplained = contents.digests.disclosures === disclosures || contents.blanks.size > 0 || findings.length > 0;
  if (!isExplained) findings.push(altered('archive', 0, 'has other values than were archived, and none is erased'));
  return { ...contents, findings };
}

export function altered(chain: string, position: number, what: string): ArchiveFinding {
  const detail = chain === 'archive' ? `the archive ${what}` : `entry ${position} of chain ${chain} ${what}`;
  return { chain, position, entryId: null, kind: 'archive_altered', detail };
}

async function findingsInSkeleton(lines: AsyncIterable<string>, keys: readonly VerifierKey[]): Promise<ArchiveFinding[]> {
  // Without a key of ours the verifier would believe those that the archive names.
  if (keys.length === 0) return [altered('archive', 0, 'is signed by no key that is believed')];
  const { verify } = await fileVerifier();
  try {
    const { breaks } = await verify(lines, { keys: keys.map(({ text }) => text) });
    return breaks.map((one) => ({ ...one, kind: one.kind === 'unauthorised_erasure' ? one.kind : 'archive_altered' }));
  } catch (error) {
    return [altered('archive', 0, `cannot be read: ${error instanceof Error ? error.message : String(error)}`)];
  }
}
