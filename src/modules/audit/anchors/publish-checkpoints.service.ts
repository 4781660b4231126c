import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { Logger } from 'pino';
import { getOrInsert } from '../../../domain/collections.js';
import { originOf, PLATFORM_TREE } from '../../../domain/audit/notes/checkpoint.js';
import { type Anchor, AnchorContradicts, type Anchored, type OurTree } from '../../../platform/audit/anchor.js';
import { MaintenanceMode } from '../../../platform/audit/maintenance-mode.js';
import { Leadership, NotLeading } from '../../../platform/database/leadership/leadership.js';
import { ReservedPool } from '../../../platform/database/reserved-pool.js';
import { isPassing } from '../../../platform/http/reply/failure.js';
import { LOGGER } from '../../../platform/logging/token.js';
import { instanceName } from '../checkpoints/checkpoint.query.js';
import { AnchorComparison, ANCHORS } from './anchor-comparison.service.js';
import { setFailure, setWatermark, watermarks } from './anchors.store.js';
import { ourTree } from '../proofs/proof.query.js';

const LOOK_EVERY_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
const SAID_AGAIN_AFTER_MS = 60_000;

/** How far publishing to one anchor has come, and when the next attempt is due. */
interface AnchorProgress {
  busy: boolean;
  /** The size that the anchor itself reported: the database's owner could write there that the anchor has everything. */
  kept?: Anchored;
  failures: number;
  notBefore: number;
  /** When its failures were last said. */
  saidAt: number;
}

const newProgress = (): AnchorProgress => ({ busy: false, failures: 0, notBefore: 0, saidAt: -Infinity });

/**
 * Gives every anchor the newest checkpoint that was committed, each at its own pace: one that is away or slow keeps neither the others
 * waiting nor whoever signs. The leader publishes; what it is about to publish it has signed, or another leader before it.
 */
@Injectable()
export class CheckpointPublisher implements BeforeApplicationShutdown {
  private readonly progress = new Map<Anchor, AnchorProgress>();
  private readonly running = new Set<Promise<void>>();
  private looking = false;
  private isStopping = false;

  constructor(
    @Inject(ANCHORS) private readonly anchors: readonly Anchor[],
    private readonly leadership: Leadership,
    private readonly reserve: ReservedPool,
    private readonly agreeing: AnchorComparison,
    private readonly maintenance: MaintenanceMode,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @Interval(LOOK_EVERY_MS)
  async tick(): Promise<void> {
    if (!this.leadership.isLeader) this.forget();
    if (this.looking || this.isStopping || !this.leadership.isLeader || this.maintenance.because !== undefined) return;
    this.looking = true;
    try {
      await this.begin();
    } catch (error) {
      if (!isPassing(error)) this.logger.error({ err: error }, 'checkpoints could not be published; the next look tries again');
    } finally {
      this.looking = false;
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.running);
  }

  /** What anchors reported counts only while this server leads. */
  private forget(): void {
    for (const progress of this.progress.values()) delete progress.kept;
    this.agreeing.forgetKept();
  }

  private async begin(): Promise<void> {
    const ours = await ourTree(this.reserve.run);
    if (!ours) return;
    const origin = originOf(await instanceName(this.reserve.run), PLATFORM_TREE);
    const known = await watermarks(this.reserve.run);
    for (const anchor of this.anchors) {
      const progress = getOrInsert(this.progress, anchor, newProgress);
      const isThere = progress.kept?.size === ours.newest.size && progress.kept.root === ours.newest.root;
      if (progress.busy || isThere || performance.now() < progress.notBefore) continue;
      progress.busy = true;
      const run = this.publish(anchor, progress, origin, ours, progress.kept ?? { size: known.get(anchor.name) ?? 0 }).finally(() => {
        progress.busy = false;
        this.running.delete(run);
      });
      this.running.add(run);
    }
  }

  private async publish(anchor: Anchor, progress: AnchorProgress, origin: string, ours: OurTree, known: Anchored): Promise<void> {
    try {
      const kept = await anchor.publish(origin, ours, known);
      progress.kept = kept;
      this.agreeing.kept(anchor.name, kept.size);
      // As the leader, so that an older leader's word does not come after a newer one's.
      await this.leadership.run((run) => setWatermark(run, anchor.name, kept));
      if (progress.failures > 0) this.logger.info({ anchor: anchor.name }, 'checkpoints are published again');
      progress.failures = 0;
      progress.saidAt = -Infinity;
    } catch (error) {
      if (error instanceof NotLeading || isPassing(error)) return;
      progress.notBefore = performance.now() + Math.min(LONGEST_PAUSE_MS, 1_000 * 2 ** Math.min(progress.failures++, 10));
      await this.failed(anchor, error, progress);
    }
  }

  private async failed(anchor: Anchor, error: unknown, progress: AnchorProgress): Promise<void> {
    const message = error instanceof Error ? error.message : String(error);
    if (performance.now() - progress.saidAt >= SAID_AGAIN_AFTER_MS) {
      progress.saidAt = performance.now();
      const what = { err: error, anchor: anchor.name, failures: progress.failures };
      this.logger.warn(what, 'checkpoints cannot be published (docs/runbooks.md#anchor-unwritable); it is tried again');
    }
    try {
      // Another history than ours, or a longer one: that is for the comparison with all of them to judge.
      if (error instanceof AnchorContradicts) {
        this.agreeing.askAnew();
        await this.agreeing.askDue();
      }
      await this.leadership.run((run) => setFailure(run, anchor.name, message));
    } catch (failure) {
      this.logger.debug({ err: failure }, 'a failed publication could not be noted');
    }
  }
}
