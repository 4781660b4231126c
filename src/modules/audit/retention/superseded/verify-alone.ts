import type { LineOf } from '../../../../domain/audit/export/export-lines.js';
import { Succession } from '../../../../domain/audit/notes/key-succession.js';
import { readVerifierKey, type VerifierKey } from '../../../../domain/audit/notes/note.js';
import { unlistedBlanks, type ArchiveBreak, type CheckedArchive } from '../../../../domain/audit/retention/verify-archive.js';
import { LocatedArchives, type FoundArchive, type FoundArchives } from './archive-folders.js';
import { altered, checkObjects, type CheckedObjects } from './archive-objects.js';
import { ArchiveTally, notContinuing, type ChainEnds, type VerifiedArchives } from './archive-tally.js';

export interface VerifiedAlone extends VerifiedArchives {
  /** That were believed: those that were given, else those that the archives name. */
  readonly keys: readonly string[];
}

/**
 * Verifies archives by what lies in their folder and nothing else: each by itself, its values against its skeleton and both against
 * its manifest; of an organization's, besides, each chain from archive to archive, and what sweeps whose entries were archived say of
 * archives. What the live log alone tells is left open: that the newest ones are there, and erasures that it still has the entries of.
 *
 * @param pinned only these keys are believed, where any are given
 */
export async function verifyAlone({ covers, archives }: FoundArchives, pinned: readonly VerifierKey[]): Promise<VerifiedAlone> {
  const ordered = archives.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
  const named = ordered.map(({ header }) => header).reduce(longest, undefined);
  const keys = pinned.length > 0 ? pinned : (named?.keys ?? []).flatMap((text) => readVerifierKey(text) ?? []);
  const tally = new ArchiveTally();
  for (const organizationId of new Set(ordered.map((one) => one.organizationId))) {
    const ends: ChainEnds = new Map();
    const all: [FoundArchive, CheckedObjects][] = [];
    for (const found of ordered.filter((one) => one.organizationId === organizationId)) {
      const { sweepId, header } = found;
      const known = { organizationId, instance: named?.instance ?? '' };
      const checked = await checkObjects(new LocatedArchives([found]), sweepId, known, keys);
      all.push([found, checked]);
      tally.take(sweepId, checked.checked);
      const told = tally.of({ organizationId, id: sweepId });
      told(checked.breaks);
      told(named && header ? wrongKeys(header, named) : []);
      told(notContinuing(ends, checked.checked));
    }
    const here = new Map(all.map(([{ sweepId }, { manifest }]) => [sweepId, manifest?.skeleton.sha256]));
    const erased = new Set(all.flatMap(([, { checked }]) => [...checked.erased]));
    for (const [{ sweepId }, { checked }] of all) {
      const unlisted = unlistedBlanks(checked.blanks, (pair) => erased.has(pair));
      tally.gone(checked.blanks.size - unlisted.length, unlisted.length);
      if (covers !== 'sweep') tally.of({ organizationId, id: sweepId })(notAsNamed(checked, here));
    }
  }
  return Object.assign(tally, { keys: keys.map(({ text }) => text) });
}

const placeOf = ({ organizationId, header, sweepId }: FoundArchive) => `${organizationId} ${header?.madeAt ?? ''} ${sweepId}`;

type Header = LineOf<'export'>;

/** Each key is kept in all that is written later: who names most names them all. */
function longest(most: Header | undefined, one: Header | undefined): Header | undefined {
  return one && one.keys.length > (most?.keys.length ?? -1) ? one : most;
}

function wrongKeys({ instance, keys, keyNotes = [] }: Header, named: Header): ArchiveBreak[] {
  const succession = new Succession(instance);
  const follow = keys.every((key, n) => succession.take({ key, note: keyNotes[n - 1] }));
  const areSame = keys.every((key, n) => key === named.keys[n]);
  return [
    ...(follow ? [] : [altered('archive', 0, 'names a key for which the one before it has not vouched')]),
    ...(areSame ? [] : [altered('archive', 0, 'names other keys than the other archives')]),
  ];
}

/** What archived entries of sweeps say of archives that are to lie here, too. */
function notAsNamed({ sweeps }: CheckedArchive, here: ReadonlyMap<string, string | undefined>): ArchiveBreak[] {
  return [...sweeps].filter(([sweepId, skeleton]) => here.get(sweepId) !== skeleton).map(([sweepId]) => altered('archive', 0,
    `names the archive of the sweep ${sweepId}, which ${here.has(sweepId) ? 'is another one here' : 'is not here'}`));
}
