import { isJsonObject, parseJson } from '../../../../domain/json.js';
import type { ArchivedObject, ArchiveManifest } from '../../../../domain/audit/export/export-lines.js';
import type { VerifierKey } from '../../../../domain/audit/notes/note.js';
import {
  readArchive, type ArchiveClaim, type ArchiveContents, type ArchiveFinding,
} from '../../../../domain/audit/retention/archive-contents.js';
import type { ArchiveStore } from '../../../../platform/audit/archive-store.js';
import { fileVerifier } from '../../exports/file-verifier.js';
import { disclosuresName, manifestName, skeletonName } from './archive-names.js';

/** An archive as a retention run has recorded it. */
export interface RecordedArchive extends ArchiveClaim {
  readonly sweepId: string;
  /** Hex SHA-256 of the skeleton. */
  readonly skeleton: string;
}

export interface CheckedArchive extends ArchiveContents {
  /** What stands beside the two objects; undefined where that cannot be read. */
  readonly manifest?: ArchiveManifest;
}

/**
 * Checks the three objects of an archive: the skeleton by its recorded digest, and by the verifier of files for what it says; each value
 * by the commitment of its entry; the manifest by the two others.
 *
 * @param keys that are trusted; no key is trusted because the archive names it
 */
export async function checkArchive(
  archive: Pick<ArchiveStore, 'read'>, { sweepId, skeleton, ...claim }: RecordedArchive, keys: readonly VerifierKey[],
): Promise<CheckedArchive> {
  const { organizationId } = claim;
  const [skeletonObject, valuesObject] = [skeletonName.of(organizationId, sweepId), disclosuresName.of(organizationId, sweepId)];
  const contents = await readArchive({ skeleton: archive.read(skeletonObject), disclosures: archive.read(valuesObject) }, claim, keys);
  const manifest = await manifestIn(archive, organizationId, sweepId);
  const findings = [...contents.findings];
  const found = (what: string) => findings.push(altered('archive', 0, what));
  if (contents.digests.skeleton !== skeleton) found('has a skeleton that is not the one whose digest was recorded');
  if (!manifest) found('has no manifest that can be read');
  else {
    if (manifest.skeleton.sha256 !== skeleton || manifest.sweepId !== sweepId) found('has the manifest of another one');
    for (const what of notAsListed(contents, manifest)) found(what);
  }
  findings.push(...(await findingsInSkeleton(archive.read(skeletonObject), keys)));
  return { ...contents, findings, ...(manifest ? { manifest } : {}) };
}

export function altered(chain: string, position: number, what: string): ArchiveFinding {
  const detail = chain === 'archive' ? `the archive ${what}` : `entry ${position} of chain ${chain} ${what}`;
  return { chain, position, entryId: null, kind: 'archive_altered', detail };
}

function* notAsListed({ chains, blanks, digests, findings, note }: ArchiveContents, manifest: ArchiveManifest): Generator<string> {
  for (const { chain, seq, hash } of manifest.chains) {
    const last = chains.get(chain)?.last;
    if (last?.seq !== seq || last.hash !== hash) yield `does not end chain ${chain} at entry ${seq}, though its manifest says so`;
  }
  if (manifest.note !== note) yield 'is not the one whose note stands beside it';
  if (manifest.chains.length !== chains.size) yield 'holds other chains than its manifest says';
  const isExplained = digests.disclosures === manifest.disclosures.sha256 || blanks.size > 0 || findings.length > 0;
  if (!isExplained) yield 'has other values than were archived, and none is erased';
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

async function manifestIn(archive: Pick<ArchiveStore, 'read'>, organizationId: string, sweepId: string): Promise<ArchiveManifest | undefined> {
  try {
    const lines: string[] = [];
    for await (const line of archive.read(manifestName.of(organizationId, sweepId))) lines.push(line);
    const read: unknown = parseJson(lines.join('\n'));
    return isManifest(read) ? read : undefined;
  } catch {
    return undefined;
  }
}

function isManifest(read: unknown): read is ArchiveManifest {
  if (!isJsonObject(read)) return false;
  const { v, sweepId, chains, skeleton, disclosures, note } = read;
  return v === 1 && typeof sweepId === 'string' && typeof note === 'string' && isObject(skeleton) && isObject(disclosures) &&
    Array.isArray(chains) && chains.every((one) => isJsonObject(one) && typeof one['chain'] === 'string');
}

function isObject(read: unknown): read is ArchivedObject {
  return isJsonObject(read) && typeof read['sha256'] === 'string';
}
