import type { FolderOf } from '../../modules/audit/retention/superseded/archive-folders.js';
import type { VerifiedArchives } from '../../modules/audit/retention/superseded/archive-tally.js';
import { counted } from './verification-report.js';

/** A verification of archives, and what it was of. */
export interface ArchiveOutcome {
  readonly covers: FolderOf;
  /** Whether the log was compared that they were taken from. */
  readonly withLog: boolean;
  /** In the folder, but of no sweep that the log has recorded. */
  readonly unrecorded: number;
  /** Without the log: whose signatures were believed. */
  readonly keys: readonly string[];
  readonly pinned: boolean;
  readonly found: Omit<VerifiedArchives, 'sweeps'>;
}

const COVERS: Record<FolderOf, string> = {
  all: 'The folder of all archives: each by itself, and each chain from archive to archive.',
  organization: "One organization's archives: each by itself, and each chain from archive to archive. Of others nothing is said.",
  sweep: "One sweep's archive. Of other sweeps nothing is said.",
};

const WITHOUT_LOG =
  'Not compared with the log: whether it goes on from here, and whether newer archives are missing, is told with --database-url.';

const NOTHING_SWEPT = 'NOTHING TO VERIFY: the log of the database has recorded no sweep, and AUDIT_ARCHIVE holds no archive.\n';

/** What a person reads: the verdict, what it is of, and what was compared. */
export function archiveReport(outcome: ArchiveOutcome): string {
  const { covers, withLog, unrecorded, found: { archives, entries, breaks } } = outcome;
  if (archives === 0 && breaks.length === 0 && withLog) return NOTHING_SWEPT;
  const what = `${counted(archives, 'archive', 'archives')}, ${counted(entries, 'entry', 'entries')}`;
  const lines = [
    `${breaks.length === 0 ? 'AS IT WAS SWEPT' : 'ALTERED'}: ${what}.`,
    ...breaks.map(({ kind, organizationId, sweepId, detail }) => `  ${kind}: ${organizationId}/${sweepId}: ${detail}`),
    ...[
      COVERS[covers],
      ...ofValues(outcome),
      withLog ? 'Compared with the log of the database: what sweeps have recorded, where chains go on, and what was erased.' : WITHOUT_LOG,
      ...(unrecorded === 0 ? [] : [
        `Not compared: ${counted(unrecorded, 'archive', 'archives')} of no sweep that this log has recorded.`,
      ]),
      ...ofKeys(outcome),
    ].map((line) => `  ${line}`),
  ];
  return `${lines.join('\n')}\n`;
}

function ofValues({ withLog, covers, found: { values: { compared, erased, unaccounted } } }: ArchiveOutcome): string[] {
  const values = (count: number) => counted(count, 'value', 'values');
  const others = withLog && covers === 'sweep' ? 'other archives tell' : 'the log tells';
  return [
    `Compared: ${values(compared)} with what their entries commit to; entries with their trees, signatures and manifests.`,
    ...(erased === 0 ? [] : [`Erased: ${values(erased)}, as signed erasures say.`]),
    ...(unaccounted === 0 ? [] : [
      `Gone, and erased by nothing that was read: ${values(unaccounted)}. Whether they were erased since is unknown here: ${others}.`,
    ]),
  ];
}

function ofKeys({ withLog, keys, pinned }: ArchiveOutcome): string[] {
  if (withLog) return [];
  return keys.map((key) => `Key ${key}${pinned ? '' : ' (the archive says so: give the one that you know as --verifier-key)'}`);
}
