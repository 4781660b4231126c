import type { ArchiveBreak, CheckedArchive } from '../../../../domain/audit/retention/verify-archive.js';
import { altered } from './archive-objects.js';
import type { RetentionRun } from '../retention-run.js';

export interface VerifiedArchives {
  readonly archives: number;
  /** Ids of those that were looked for. */
  readonly sweeps: readonly string[];
  readonly entries: number;
  readonly values: VerifiedValues;
  readonly breaks: readonly FoundBreak[];
}

export interface VerifiedValues {
  /** That are there, each the one that its entry commits to. */
  readonly compared: number;
  /** That are gone, as a signed erasure says. */
  readonly erased: number;
  /** That are gone, and no erasure that was read says so; one that was not read may. */
  readonly unaccounted: number;
}

export interface FoundBreak extends ArchiveBreak {
  readonly organizationId: string;
  readonly sweepId: string;
}

/** What has been found so far. */
export class ArchiveTally implements VerifiedArchives {
  readonly sweeps: string[] = [];
  archives = 0;
  entries = 0;
  readonly values = { compared: 0, erased: 0, unaccounted: 0 };
  readonly breaks: FoundBreak[] = [];

  /** To tell breaks of this sweep's archive to. */
  of({ organizationId, id }: Pick<RetentionRun, 'organizationId' | 'id'>): (found: readonly ArchiveBreak[]) => void {
    return (found) => void this.breaks.push(...found.map((one) => ({ ...one, organizationId, sweepId: id })));
  }

  take(sweepId: string, { entries, valueCount, blanks }: CheckedArchive): void {
    this.sweeps.push(sweepId);
    this.archives++;
    this.entries += entries;
    this.values.compared += valueCount - blanks.size;
  }

  gone(erased: number, unaccounted: number): void {
    this.values.erased += erased;
    this.values.unaccounted += unaccounted;
  }
}

/** Where chains end in the archives that were read. */
export type ChainEnds = Map<string, { readonly seq: number; readonly hash: string }>;

/** Chains that do not go on from the archive before, into which `ends` is moved on. @param areAll none may be missing in between */
export function notContinuing(ends: ChainEnds, { chains }: CheckedArchive, areAll = true): ArchiveBreak[] {
  const found: ArchiveBreak[] = [];
  for (const [chain, { first, last }] of chains) {
    const before = ends.get(chain);
    const goesOn = !before || first.event === 'agent.transferred' || (first.seq === before.seq + 1
      ? first.prevHash === before.hash : !areAll && first.seq > before.seq);
    if (!goesOn) found.push(altered(chain, first.seq, 'does not continue what the archive before it holds'));
    ends.set(chain, last);
  }
  return found;
}
