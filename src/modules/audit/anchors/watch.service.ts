import { type BeforeApplicationShutdown, Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { Logger } from 'pino';
import { AnchorFreshness } from '../../../platform/audit/anchor-freshness.js';
import { Hold } from '../../../platform/audit/hold.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { Reserve } from '../../../platform/database/reserve.js';
import { LOGGER } from '../../../platform/logging/token.js';
import { AgreeService } from './agree.service.js';
import { anchorState, type AnchorState } from './anchor-state.query.js';

const LOOK_EVERY_MS = 1_000;
/** Anchors that have not answered, or contradict, are asked again so often. */
const ASK_AGAIN_MS = 5_000;
const RESTORED = 'This database is not the one that this server has served until now: it has been put back to an older state, or replaced. '
  + 'Put the right one back; or, if what is missing is lost for good, run `countersign recover --accept-loss`.';

/**
 * Looks every second, on every server, whether this is still the database that it was: it has the checkpoint that was last seen, nobody
 * holds it, no anchor contradicts it. The anchors are compared before the first call is served, and again whenever the database has been
 * away. What it finds it leaves in memory, where calls ask.
 */
@Injectable()
export class WatchService implements OnModuleInit, BeforeApplicationShutdown {
  /** The newest checkpoint that this process has seen, and under which recovery. */
  private seen: { readonly size: number; readonly root: string; readonly recoveredAt: number } | undefined;
  /** `commits` when the newest checkpoint was first seen, and when the first commit was seen that it does not have. */
  private since: { readonly size: number; readonly commits: number; pendingSince?: number } | undefined;
  private unanchoredSince: number | undefined;
  private askedAt = -Infinity;
  private looking: Promise<void> | undefined;
  private isStopping = false;
  private state: AnchorState | undefined;

  constructor(
    private readonly agreeing: AgreeService,
    private readonly reserve: Reserve,
    private readonly hold: Hold,
    private readonly freshness: AnchorFreshness,
    @Inject(CONFIG) private readonly config: CompleteConfig,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Before anything works and before the first call. */
  async onModuleInit(): Promise<void> {
    await this.look();
  }

  @Interval(LOOK_EVERY_MS)
  tick(): void {
    if (!this.isStopping) void this.look();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.looking;
  }

  /** Since when there has been something in the log that not every anchor knows, in milliseconds of our clock; undefined: there is nothing. */
  get unanchoredSeconds(): number {
    return this.unanchoredSince === undefined ? 0 : Math.max(0, Math.floor((Date.now() - this.unanchoredSince) / 1000));
  }

  get replicas(): number {
    return this.state?.replicas ?? 1;
  }

  /** Whoever asks meanwhile waits for the look that is under way. */
  look(): Promise<void> {
    return (this.looking ??= this.lookOnce().finally(() => (this.looking = undefined)));
  }

  private async lookOnce(): Promise<void> {
    try {
      const state = await this.read();
      await this.judge(state);
      this.measure(state);
    } catch (error) {
      // The database is away, and may be another one when it is back: then the anchors are asked before anything else.
      this.agreeing.askAnew();
      this.askedAt = -Infinity;
      this.logger.debug({ err: error }, 'the anchors cannot be compared while the database is away');
    }
    this.freshness.set(this.isStale());
  }

  private async read(): Promise<AnchorState> {
    const run = (sql: string, parameters: readonly unknown[]) => this.reserve.run(sql, [...parameters]);
    const state = await anchorState(run, await this.agreeing.anchoredSize(run), this.seen?.size);
    this.state = state;
    return state;
  }

  private async judge(state: AnchorState): Promise<void> {
    const recoveredAt = state.recoveredAt?.getTime() ?? 0;
    if (this.seen && this.seen.recoveredAt !== recoveredAt) {
      // What was lost has been accepted: what we have seen of it no longer counts.
      this.seen = undefined;
      this.agreeing.askAnew();
      this.askedAt = -Infinity;
    }
    const isOther = this.seen !== undefined && state.rootThen !== this.seen.root;
    if (isOther && this.hold.because === undefined) this.logger.error(RESTORED);
    // At once: the anchors may take their time.
    if (isOther || state.heldBecause !== undefined) this.hold.set(state.heldBecause ?? RESTORED);
    if (this.agreeing.isDue && performance.now() - this.askedAt >= ASK_AGAIN_MS) {
      this.askedAt = performance.now();
      await this.agreeing.askDue();
    }
    this.hold.set(state.heldBecause ?? this.agreeing.contradiction ?? (isOther ? RESTORED : undefined));
    if (!isOther && state.newest) this.seen = { ...state.newest, recoveredAt };
  }

  private measure({ newest, commits, now, unanchoredSince }: AnchorState): void {
    const size = newest?.size ?? 0;
    if (this.since?.size !== size) this.since = { size, commits };
    else if (commits > this.since.commits) this.since.pendingSince ??= Date.now();
    // Of our clock, so that it goes on while the database is away.
    const checkpointed = unanchoredSince && Date.now() - (now.getTime() - unanchoredSince.getTime());
    const all = [checkpointed, this.since.pendingSince].filter((time) => time !== undefined);
    this.unanchoredSince = all.length === 0 ? undefined : Math.min(...all);
  }

  private isStale(): boolean {
    const { auditUnanchoredMaxSeconds: most } = this.config;
    return most !== undefined && this.unanchoredSeconds > most;
  }
}
