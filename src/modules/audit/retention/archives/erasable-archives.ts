import { Inject, Injectable } from '@nestjs/common';
import { ArchiveStore } from '../../../../platform/audit/archive-store.js';
import { CONFIG, type CompleteConfig } from '../../../../platform/config/config.js';
import type { Tx } from '../../../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../../../platform/database/transaction/unit-of-work.js';
import { archiveFolder } from './archive-names.js';
import { ArchivedDisclosures, type ArchivedEntry } from './archived-disclosures.js';
import { withRetentionLock } from '../retention-lock.js';
import { retentionRunStates, RetentionRunStore } from '../retention-run.store.js';
import type { RetentionRunState } from '../retention-run.js';

/** An organization's retention runs, which its archive holds. */
export interface ArchivedRuns {
  /** Ids of those that are recorded: only their archives last. */
  readonly recorded: readonly string[];
  /** Ids of those that are not, with an archive that is being written, or was left behind. */
  readonly unfinished: readonly string[];
}

/** The archives of an organization, for whoever erases from them, while nobody else does and no retention run is under way. */
export interface OpenArchives {
  /** How many of the archives are not there any more. */
  readonly gone: number;
  entries(): AsyncIterable<ArchivedEntry>;
  /** Doing it again finds what a crash has left. @returns how many entries have other disclosures now */
  rewrite(change: (entry: ArchivedEntry) => string): Promise<number>;
}

/**
 * Archives, for erasing. An erasure leaves out the archive of a retention run that is not recorded: its entries are all in the log, where
 * they are blanked under the lock that the run has to take before it is recorded, and the run is then thrown away.
 */
@Injectable()
export class ErasableArchives {
  constructor(
    private readonly work: UnitOfWork,
    private readonly archive: ArchiveStore,
    private readonly disclosures: ArchivedDisclosures,
    private readonly store: RetentionRunStore,
    @Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'databaseUrl' | 'databaseListenUrl'>,
  ) {}

  /** Under the head of the organization's chain, so that no run is recorded meanwhile. */
  async runs(tx: Tx, organizationId: string): Promise<ArchivedRuns> {
    const all = await retentionRunStates(tx.run, organizationId);
    const isRecorded = (state: RetentionRunState) => state === 'recorded' || state === 'done';
    return {
      recorded: all.filter(({ state }) => isRecorded(state)).map(({ id }) => id),
      unfinished: all.filter(({ state }) => !isRecorded(state)).map(({ id }) => id),
    };
  }

  /**
   * Opens the archives of these retention runs. Under the lock no retention run is under way, so that an archive that is not recorded was
   * left by a process that died: it is thrown away.
   *
   * @throws UnderWay where a retention run is under way, or another process has opened them; Error where no archive can be written
   */
  async open<Result>(
    organizationId: string, { recorded, unfinished }: ArchivedRuns, work: (archives: OpenArchives) => Promise<Result>,
  ): Promise<Result> {
    const { databaseListenUrl, databaseUrl } = this.config;
    return withRetentionLock(databaseListenUrl ?? databaseUrl, async (stillAlone) => {
      await this.archive.check();
      for (const id of unfinished) await this.discard(organizationId, id);
      const left = await this.disclosures.there(organizationId, recorded);
      return work({
        gone: recorded.length - left.length,
        entries: () => this.disclosures.of(organizationId, left),
        rewrite: async (change) => (await this.disclosures.rewrite(organizationId, left, change, stillAlone)).entries,
      });
    });
  }

  /** Unless it has been recorded since it was looked at: then it is somebody else's. */
  private async discard(organizationId: string, id: string): Promise<void> {
    const isLeft = await this.work.run({ chains: [] }, async (tx) => (await this.runs(tx, organizationId)).unfinished.includes(id));
    if (!isLeft) return;
    await this.archive.discard(archiveFolder(organizationId, id));
    await this.work.run({ chains: [] }, (tx) => this.store.forget(tx, { organizationId, id }));
  }
}
