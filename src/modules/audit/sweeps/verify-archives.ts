import {
  checkArchive, unlistedBlanks, type ArchiveBreak, type ArchiveClaim, type CheckedArchive,
} from '../../../domain/audit/verify-archive.js';
import { readVerifierKey, type VerifierKey } from '../../../domain/audit/note.js';
import type { ArchiveManifest } from '../../../domain/audit/export-lines.js';
import type { ArchiveStore } from '../../../platform/audit/archive-store.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import { createDataSource } from '../../../platform/database/data-source.js';
import { SNAPSHOT } from '../log-source.query.js';
import { instanceName, verifierKeys } from '../trees/checkpoint.query.js';
import { disclosuresName, manifestName, skeletonName } from './archive-names.js';
import { erasuresOf, firstEntries, sweptTellings, type SweepTelling } from './archive-ties.query.js';
import { sweepsIn } from './sweep.store.js';
import type { Sweep } from './sweep.js';

export interface VerifiedArchives {
  readonly archives: number;
  readonly entries: number;
  readonly breaks: readonly (ArchiveBreak & { readonly organizationId: string; readonly sweepId: string })[];
}

/**
 * Verifies the archives of a database's sweeps, each by itself and together with the log: what the sweep's entry says of it, each
 * chain from archive to archive and on into the log, and that every value that is gone was erased by an entry here or there.
 */
export async function verifyArchives(run: ReadStatement, archive: ArchiveStore): Promise<VerifiedArchives> {
  const instance = await instanceName(run);
  const shown = await verifierKeys(run);
  const keys = shown.flatMap(({ verifierKey }) => readVerifierKey(verifierKey) ?? []);
  const unretired = shown.filter(({ retiredAtSize }) => retiredAtSize === undefined).map(({ verifierKey }) => verifierKey);
  const signsNow = { instance, keys: keys.filter(({ text }) => unretired.includes(text)) };
  const found = { archives: 0, entries: 0, breaks: [] as VerifiedArchives['breaks'][number][] };
  const recorded = await sweepsIn(run, ['recorded', 'done']);
  for (const organizationId of new Set(recorded.map((one) => one.organizationId))) {
    const sweeps = recorded.filter((one) => one.organizationId === organizationId);
    const tellings = await sweptTellings(run, organizationId, signsNow);
    const erased = await erasuresOf(run, organizationId, signsNow);
    const all: [Sweep, CheckedArchive][] = [];
    const ends = new Map<string, { seq: number; hash: string }>();
    for (const sweep of sweeps) {
      const told = (what: readonly ArchiveBreak[]) =>
        found.breaks.push(...what.map((one) => ({ ...one, organizationId, sweepId: sweep.id })));
      const telling = tellings.get(sweep.id);
      const { checked, manifest } = await checkOne(archive, sweep, instance, keys, telling?.skeleton);
      found.archives++;
      found.entries += checked.entries;
      told(checked.breaks);
      all.push([sweep, checked]);
      for (const [chain, { first, last }] of checked.chains) {
        const before = ends.get(chain);
        if (before && !(first.seq === before.seq + 1 && first.prevHash === before.hash) && first.event !== 'agent.transferred') {
          told([altered(chain, first.seq, 'does not continue what the archive before it holds')]);
        }
        ends.set(chain, last);
        const said = telling?.chains.get(chain);
        if (said && (said.seq !== last.seq || said.hash !== last.hash)) {
          told([altered(chain, last.seq, "is not the one that the sweep's entry names")]);
        }
      }
      if (manifest && telling && manifest.disclosures.sha256 !== telling.disclosures) {
        told([altered('archive', 0, "names other values than the sweep's entry")]);
      }
    }
    for (const { chain, seq, prevHash, event } of await firstEntries(run, organizationId)) {
      const end = ends.get(chain);
      if (!end || event === 'agent.transferred' || (seq === end.seq + 1 && prevHash === end.hash) || seq <= end.seq) continue;
      found.breaks.push({ ...altered(chain, seq, 'does not continue what the archives hold'), organizationId, sweepId: sweeps.at(-1)!.id });
    }
    for (const blank of erasedIn(all, tellings)) erased.add(blank);
    for (const [sweep, { blanks }] of all) {
      const unlisted = unlistedBlanks(blanks, (blank) => erased.has(blank));
      found.breaks.push(...unlisted.map((one) => ({ ...one, organizationId, sweepId: sweep.id })));
    }
  }
  return found;
}

/**
 * What erasures list that were archived. An archive is believed if its sweep is signed; where that one's entry has been swept too, if an
 * archive that is believed holds the entry, and it names this skeleton.
 *
 * @param archives oldest first
 */
function* erasedIn(
  archives: readonly (readonly [Sweep, CheckedArchive])[], tellings: ReadonlyMap<string, SweepTelling>,
): Generator<string> {
  const archived = new Map<string, string>();
  for (const [{ id, skeleton }, { erased, sweeps }] of archives.toReversed()) {
    if (!tellings.has(id) && archived.get(id) !== skeleton) continue;
    yield* erased;
    for (const [sweepId, digest] of sweeps) archived.set(sweepId, digest);
  }
}

/** The same, of a database past any server. Nothing is written. */
export async function verifyArchivesOf(databaseUrl: string, archive: ArchiveStore): Promise<VerifiedArchives> {
  const dataSource = createDataSource({ url: databaseUrl, poolSize: 1, connectTimeoutMs: 5_000 });
  await dataSource.initialize();
  try {
    return await dataSource.transaction(async (manager) => {
      for (const statement of SNAPSHOT) await manager.query(statement);
      return verifyArchives((sql, parameters) => manager.query(sql, [...parameters]), archive);
    });
  } finally {
    await dataSource.destroy().catch(() => undefined);
  }
}

/** The digest is the entry's, while it is in the log; afterwards the row's, which the archive of that entry bears out. */
async function checkOne(
  archive: ArchiveStore, sweep: Sweep, instance: string, keys: readonly VerifierKey[], recorded: string | undefined,
): Promise<{ checked: CheckedArchive; manifest?: ArchiveManifest }> {
  const { organizationId, id, checkpoint } = sweep;
  let manifest: ArchiveManifest | undefined;
  try {
    for await (const line of archive.read(manifestName.of(organizationId, id))) manifest = JSON.parse(line) as ArchiveManifest;
  } catch {
    // What it says stands in the sweep's entry, too; that it is gone is found below.
  }
  const claim: ArchiveClaim = {
    organizationId, instance, skeleton: recorded ?? sweep.skeleton ?? '', checkpoint,
    ...(manifest ? { chains: manifest.chains, disclosures: manifest.disclosures.sha256 } : {}),
  };
  const objects = {
    skeleton: archive.read(skeletonName.of(organizationId, id)), disclosures: archive.read(disclosuresName.of(organizationId, id)),
  };
  const checked = await checkArchive(objects, claim, keys);
  if (manifest) return { checked, manifest };
  return { checked: { ...checked, breaks: [...checked.breaks, altered('archive', 0, 'has no manifest that can be read')] } };
}

function altered(chain: string, position: number, what: string): ArchiveBreak {
  const detail = chain === 'archive' ? `the archive ${what}` : `entry ${position} of chain ${chain} ${what}`;
  return { chain, position, entryId: null, kind: 'archive_altered', detail };
}
