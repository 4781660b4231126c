import { readVerifierKey } from '../../../../domain/audit/notes/note.js';
import { unlistedBlanks, type ArchiveContents, type ArchiveFinding } from '../../../../domain/audit/retention/archive-contents.js';
import type { ArchiveStore } from '../../../../platform/audit/archive-store.js';
import type { ReadStatement } from '../../../../platform/audit/record-keepers.js';
import { withDataSource } from '../../../../platform/database/transaction/command-work.js';
import { LONG_READING, readAtOneMoment } from '../../query/snapshots.query.js';
import { instanceName, verifierKeys } from '../../checkpoints/checkpoint.query.js';
import { erasuresOf, firstEntries, archiveReferences, type ArchiveReference } from './archive-references.query.js';
import { altered, checkArchive } from './check-archive.js';
import { retentionRunsIn } from '../retention-run.store.js';
import type { RetentionRun } from '../retention-run.js';

export interface VerifiedArchives {
  readonly archives: number;
  readonly entries: number;
  readonly breaks: readonly FoundBreak[];
}

export interface FoundBreak extends ArchiveFinding {
  readonly organizationId: string;
  readonly sweepId: string;
}

/** Where chains end in the archives that were read. */
type ChainEnds = Map<string, { readonly seq: number; readonly hash: string }>;

/**
 * Verifies the archives of a database's retention runs together with the log: each archive by what the entry of its run says of it, each
 * chain from archive to archive and on into the log, and that an erasure in the log or in an archive lists every value that is gone.
 */
export async function verifyArchives(run: ReadStatement, archive: Pick<ArchiveStore, 'read'>): Promise<VerifiedArchives> {
  const instance = await instanceName(run);
  const shown = await verifierKeys(run);
  const keys = shown.flatMap(({ key }) => readVerifierKey(key) ?? []);
  const unretired = shown.filter(({ retiredAtSize }) => retiredAtSize === undefined).map(({ key }) => key);
  const signsNow = { instance, keys: keys.filter(({ text }) => unretired.includes(text)) };
  const recorded = await retentionRunsIn(run, ['recorded', 'done']);
  const breaks: FoundBreak[] = [];
  const foundIn = ({ organizationId, id }: RetentionRun, found: readonly ArchiveFinding[]) =>
    void breaks.push(...found.map((one) => ({ ...one, organizationId, sweepId: id })));
  let entries = 0;
  for (const organizationId of new Set(recorded.map((one) => one.organizationId))) {
    const ofOrganization = recorded.filter((one) => one.organizationId === organizationId);
    const references = await archiveReferences(run, organizationId, signsNow);
    const erased = await erasuresOf(run, organizationId, signsNow);
    const all: [RetentionRun, ArchiveContents][] = [];
    const ends: ChainEnds = new Map();
    for (const retentionRun of ofOrganization) {
      const reference = references.get(retentionRun.id);
      // The digests are the entry's, while it is in the log; afterwards the row's, which the archive of that entry bears out.
      const [{ skeleton, disclosures }, { checkpoint }] = [reference ?? retentionRun, retentionRun];
      const claim = { organizationId, instance, sweepId: retentionRun.id, skeleton, disclosures, checkpoint };
      const checked = await checkArchive(archive, claim, keys);
      all.push([retentionRun, checked]);
      entries += checked.entries;
      const otherwise = reference ? notAsReferred(checked, reference) : [];
      foundIn(retentionRun, [...checked.findings, ...notContinuing(ends, checked), ...otherwise]);
    }
    for (const { chain, seq, prevHash, event } of await firstEntries(run, organizationId)) {
      const end = ends.get(chain);
      if (!end || event === 'agent.transferred' || (seq === end.seq + 1 && prevHash === end.hash) || seq <= end.seq) continue;
      foundIn(ofOrganization.at(-1)!, [altered(chain, seq, 'does not continue what the archives hold')]);
    }
    for (const blank of erasedIn(all, references)) erased.add(blank);
    for (const [retentionRun, { blanks }] of all) foundIn(retentionRun, unlistedBlanks(blanks, (blank) => erased.has(blank)));
  }
  return { archives: recorded.length, entries, breaks };
}

/** Chains that do not go on from the archive before, into which `ends` is moved on. */
function notContinuing(ends: ChainEnds, { chains }: ArchiveContents): ArchiveFinding[] {
  const found: ArchiveFinding[] = [];
  for (const [chain, { first, last }] of chains) {
    const before = ends.get(chain);
    const goesOn = !before || first.event === 'agent.transferred' || (first.seq === before.seq + 1 && first.prevHash === before.hash);
    if (!goesOn) found.push(altered(chain, first.seq, 'does not continue what the archive before it holds'));
    ends.set(chain, last);
  }
  return found;
}

function* notAsReferred({ chains }: ArchiveContents, reference: ArchiveReference): Generator<ArchiveFinding> {
  for (const [chain, { last }] of chains) {
    const said = reference.chains.get(chain);
    const isOther = said && (said.seq !== last.seq || said.hash !== last.hash);
    if (isOther) yield altered(chain, last.seq, "is not the one that the sweep's entry names");
  }
}

/**
 * Values that archived erasures list. An archive is believed if its run is signed; where the entry of that run was archived too, if an
 * archive that is believed holds the entry, and the entry names this skeleton.
 *
 * @param archives oldest first
 */
function* erasedIn(
  archives: readonly (readonly [RetentionRun, ArchiveContents])[], references: ReadonlyMap<string, ArchiveReference>,
): Generator<string> {
  const archived = new Map<string, string>();
  for (const [{ id, skeleton }, { erased, runs }] of archives.toReversed()) {
    if (!references.has(id) && archived.get(id) !== skeleton) continue;
    yield* erased;
    for (const [sweepId, digest] of runs) archived.set(sweepId, digest);
  }
}

/** The same, of a database past any server. Nothing is written. */
export function verifyArchivesOf(databaseUrl: string, archive: Pick<ArchiveStore, 'read'>): Promise<VerifiedArchives> {
  return withDataSource(databaseUrl, 1, (dataSource) => readAtOneMoment(dataSource, (run) => verifyArchives(run, archive), LONG_READING));
}
