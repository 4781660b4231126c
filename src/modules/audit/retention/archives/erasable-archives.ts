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

/** What sweeps of an organization stand in its archive. */
export interface ArchivedRuns {
  /** Ids of those that are recorded: only their archives last. */
  readonly recorded: readonly string[];
  /** Ids of those that are not, with an archive that is being written, or was left behind. */
  readonly unfinished: readonly string[];
}

/** The archives of an organization, for whoever erases from them, while nobody else does and nothing is swept. */
export interface OpenArchives {
  /** How many of the archives are not there any more. */
  readonly gone: number;
  entries(): AsyncIterable<ArchivedEntry>;
  /** Doing it again finds what a crash has left. @returns how many entries have other disclosures now */
  rewrite(change: (entry: ArchivedEntry) => string): Promise<number>;
}

/**
 * Archives, for erasing. What a sweep that is not recorded has written is no concern of an erasure: its entries are all in the log,
 * where they are blanked under the lock that the sweep has to take before it is recorded, and which then throws it away.
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

  /** Under the head of the organization's chain no sweep is recorded beside. */
  async sweeps(tx: Tx, organizationId: string): Promise<ArchivedRuns> {
    const all = await retentionRunStates(tx.run, organizationId);
    const isRecorded = (state: RetentionRunState) => state === 'recorded' || state === 'done';
    return {
      recorded: all.filter(({ state }) => isRecorded(state)).map(({ id }) => id),
      unfinished: all.filter(({ state }) => !isRecorded(state)).map(({ id }) => id),
    };
  }

  /**
   * Opens the archives of these sweeps. Under the lock no sweep is under way, so that an archive that is not recorded was left by a process
   * that died: it is thrown away.
   *
   * @throws UnderWay where something is swept, or another process has opened them; Error where no archive can be written
   */
  async open<Result>(
    organizationId: string, { recorded, unfinished }: ArchivedRuns, work: (archives: OpenArchives) => Promise<Result>,
  ): Promise<Result> {
    const { databaseListenUrl, databaseUrl } = this.config;
    return withRetentionLock(databaseListenUrl ?? databaseUrl, async (stillAlone) => {
      await this.archive.check();
      for (const id of unfinished) await this.discard(organizationId, id);
      const sweeps = await this.disclosures.there(organizationId, recorded);
      return work({
        gone: recorded.length - sweeps.length,
        entries: () => this.disclosures.of(organizationId, sweeps),
        rewrite: async (change) => (await this.disclosures.rewrite(organizationId, sweeps, change, stillAlone)).entries,
      });
    });
  }

  /** Unless it has been recorded since it was looked at: then it is somebody else's. */
  private async discard(organizationId: string, id: string): Promise<void> {
    const isLeft = await this.work.run({ chains: [] }, async (tx) => (await this.sweeps(tx, organizationId)).unfinished.includes(id));
    if (!isLeft) return;
    await this.archive.discard(archiveFolder(organizationId, id));
    await this.work.run({ chains: [] }, (tx) => this.store.forget(tx, { organizationId, id }));
  }
}
