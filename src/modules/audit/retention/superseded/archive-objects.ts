import { isJsonObject, parseJson } from '../../../../domain/json.js';
import type { ArchivedObject, ArchiveManifest } from '../../../../domain/audit/export/export-lines.js';
import type { VerifierKey } from '../../../../domain/audit/notes/note.js';
import { checkArchive, type ArchiveBreak, type ArchiveClaim, type CheckedArchive } from '../../../../domain/audit/retention/verify-archive.js';
import type { ArchiveStore } from '../../../../platform/audit/archive-store.js';
import { disclosuresName, manifestName, skeletonName } from '../archives/archive-names.js';

export interface CheckedObjects {
  readonly checked: CheckedArchive;
  /** What stands beside the two objects; undefined where it cannot be read. */
  readonly manifest?: ArchiveManifest;
  readonly breaks: readonly ArchiveBreak[];
}

/** What is known of an archive; without a digest, that of its manifest counts. */
export type ArchiveKnown = Omit<ArchiveClaim, 'skeleton'> & { readonly skeleton?: string };

/** Checks the three objects of an archive, each by itself and against the two others. */
export async function checkObjects(
  archive: Pick<ArchiveStore, 'read'>, sweepId: string, known: ArchiveKnown, keys: readonly VerifierKey[],
): Promise<CheckedObjects> {
  const { organizationId } = known;
  const manifest = await manifestIn(archive, organizationId, sweepId);
  const skeleton = known.skeleton ?? manifest?.skeleton.sha256 ?? '';
  const beside = manifest && { chains: manifest.chains, disclosures: manifest.disclosures.sha256, note: manifest.note };
  const objects = {
    skeleton: archive.read(skeletonName.of(organizationId, sweepId)),
    disclosures: archive.read(disclosuresName.of(organizationId, sweepId)),
  };
  const checked = await checkArchive(objects, { ...known, skeleton, ...beside }, keys);
  if (!manifest) return { checked, breaks: [...checked.breaks, altered('archive', 0, 'has no manifest that can be read')] };
  const isNamed = manifest.skeleton.sha256 === skeleton && manifest.sweepId === sweepId;
  const other = isNamed ? [] : [altered('archive', 0, 'has the manifest of another one')];
  return { checked, manifest, breaks: [...checked.breaks, ...other] };
}

/** What an archive says of itself beside its objects; undefined where that cannot be read. */
export async function manifestIn(
  archive: Pick<ArchiveStore, 'read'>, organizationId: string, sweepId: string,
): Promise<ArchiveManifest | undefined> {
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

export function altered(chain: string, position: number, what: string): ArchiveBreak {
  const detail = chain === 'archive' ? `the archive ${what}` : `entry ${position} of chain ${chain} ${what}`;
  return { chain, position, entryId: null, kind: 'archive_altered', detail };
}
