import { readVerifierKey, type VerifierKey } from '../../../../domain/audit/notes/note.js';
import { unlistedBlanks, type CheckedArchive } from '../../../../domain/audit/retention/verify-archive.js';
import type { ArchiveStore } from '../../../../platform/audit/archive-store.js';
import type { ReadStatement } from '../../../../platform/audit/record-keepers.js';
import { createDataSource } from '../../../../platform/database/data-source.js';
import { SNAPSHOT } from '../../verification/source/log-source.query.js';
import { instanceName, verifierKeys } from '../../checkpoints/checkpoint.query.js';
import { altered, checkObjects } from '../superseded/archive-objects.js';
import { ArchiveTally, notContinuing, type ChainEnds, type VerifiedArchives } from '../superseded/archive-tally.js';
import { erasuresOf, firstEntries, archiveReferences, type ArchiveReference } from './archive-references.query.js';
import { retentionRunsIn } from '../retention-run.store.js';
import type { RetentionRun } from '../retention-run.js';

/** Some of the archives, and whose keys alone count. */
export interface WhichArchives {
  readonly isMeant?: (sweep: RetentionRun) => boolean;
  /** Only these verifier keys are believed, where any are given. */
  readonly pinned?: readonly VerifierKey[];
}

/**
 * Verifies the archives of a database's sweeps, each by itself and together with the log: what the sweep's entry says of it, each
 * chain from archive to archive and on into the log, and that every value that is gone was erased by an entry here or there. Where not
 * all of an organization's are meant, the others may hold what is missed: then that is not asked.
 */
export async function verifyArchives(
  run: ReadStatement, archive: Pick<ArchiveStore, 'read'>, { isMeant = () => true, pinned = [] }: WhichArchives = {},
): Promise<VerifiedArchives> {
  const instance = await instanceName(run);
  const shown = await verifierKeys(run);
  const isBelieved = ({ text }: VerifierKey) => pinned.length === 0 || pinned.some((one) => one.text === text);
  const keys = shown.flatMap(({ verifierKey }) => readVerifierKey(verifierKey) ?? []).filter(isBelieved);
  const unretired = shown.filter(({ retiredAtSize }) => retiredAtSize === undefined).map(({ verifierKey }) => verifierKey);
  const signsNow = { instance, keys: keys.filter(({ text }) => unretired.includes(text)) };
  const tally = new ArchiveTally();
  const recorded = await retentionRunsIn(run, ['recorded', 'done']);
  for (const organizationId of new Set(recorded.filter(isMeant).map((one) => one.organizationId))) {
    const ofOrganization = recorded.filter((one) => one.organizationId === organizationId);
    const sweeps = ofOrganization.filter(isMeant);
    const areAll = sweeps.length === ofOrganization.length;
    const tellings = await archiveReferences(run, organizationId, signsNow);
    const erased = await erasuresOf(run, organizationId, signsNow);
    const all: [RetentionRun, CheckedArchive][] = [];
    const ends: ChainEnds = new Map();
    for (const sweep of sweeps) {
      const told = tally.of(sweep);
      const telling = tellings.get(sweep.id);
      // The digest is the entry's, while it is in the log; afterwards the row's, which the archive of that entry bears out.
      const known = { organizationId, instance, skeleton: telling?.skeleton ?? sweep.skeleton ?? '', checkpoint: sweep.checkpoint };
      const { checked, manifest, breaks } = await checkObjects(archive, sweep.id, known, keys);
      tally.take(sweep.id, checked);
      told(breaks);
      all.push([sweep, checked]);
      told(notContinuing(ends, checked, areAll));
      for (const [chain, { last }] of checked.chains) {
        const said = telling?.chains.get(chain);
        if (said && (said.seq !== last.seq || said.hash !== last.hash)) {
          told([altered(chain, last.seq, "is not the one that the sweep's entry names")]);
        }
      }
      if (manifest && telling && manifest.disclosures.sha256 !== telling.disclosures) {
        told([altered('archive', 0, "names other values than the sweep's entry")]);
      }
    }
    for (const { chain, seq, prevHash, event } of areAll ? await firstEntries(run, organizationId) : []) {
      const end = ends.get(chain);
      if (!end || event === 'agent.transferred' || (seq === end.seq + 1 && prevHash === end.hash) || seq <= end.seq) continue;
      tally.of(sweeps.at(-1)!)([altered(chain, seq, 'does not continue what the archives hold')]);
    }
    for (const blank of erasedIn(all, tellings)) erased.add(blank);
    for (const [sweep, { blanks }] of all) {
      const unlisted = unlistedBlanks(blanks, (blank) => erased.has(blank));
      tally.gone(blanks.size - unlisted.length, unlisted.length);
      if (areAll) tally.of(sweep)(unlisted);
    }
  }
  return tally;
}

/**
 * What erasures list that were archived. An archive is believed if its sweep is signed; where that one's entry has been swept too, if an
 * archive that is believed holds the entry, and it names this skeleton.
 *
 * @param archives oldest first
 */
function* erasedIn(
  archives: readonly (readonly [RetentionRun, CheckedArchive])[], tellings: ReadonlyMap<string, ArchiveReference>,
): Generator<string> {
  const archived = new Map<string, string>();
  for (const [{ id, skeleton }, { erased, sweeps }] of archives.toReversed()) {
    if (!tellings.has(id) && archived.get(id) !== skeleton) continue;
    yield* erased;
    for (const [sweepId, digest] of sweeps) archived.set(sweepId, digest);
  }
}

/** The same, of a database past any server. Nothing is written. */
export async function verifyArchivesOf(
  databaseUrl: string, archive: Pick<ArchiveStore, 'read'>, which: WhichArchives = {},
): Promise<VerifiedArchives> {
  const dataSource = createDataSource({ url: databaseUrl, poolSize: 1, connectTimeoutMs: 5_000 });
  await dataSource.initialize();
  try {
    return await dataSource.transaction(async (manager) => {
      for (const statement of SNAPSHOT) await manager.query(statement);
      return verifyArchives((sql, parameters) => manager.query(sql, [...parameters]), archive, which);
    });
  } finally {
    await dataSource.destroy().catch(() => undefined);
  }
}
