import { type BeforeApplicationShutdown, Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { Logger } from 'pino';
import type { TreeHead } from '../../../domain/audit/notes/checkpoint.js';
import { MaintenanceMode } from '../../../platform/audit/maintenance-mode.js';
import { NewConnections } from '../../../platform/database/new-connections.js';
import { ReservedPool } from '../../../platform/database/reserved-pool.js';
import { LOGGER } from '../../../platform/logging/token.js';
import { AnchorComparison } from './anchor-comparison.service.js';
import { anchorState, type AnchorState, stillHas } from './anchor-state.query.js';
import { UnanchoredAge } from './unanchored-age.js';

const LOOK_EVERY_MS = 1_000;
/** Anchors that have not answered, or contradict, are asked again so often. */
const ASK_AGAIN_MS = 5_000;
/** A server whose clock differs by more from the database's is not ready. */
const CLOCKS_DIFFER_MS = 2_000;
const OTHER = 'This database is not the one that this server has served until now: it was put back to an older state, is a standby '
  + 'that was behind, or was replaced. Put the right one back; or, if what is missing is lost for good, run '
  + '`countersign recover --accept-loss`.';

/**
 * Checks every second, on every server, that the database is still the same one: it has the checkpoint that this server saw last, no
 * operator has put it into maintenance mode, and no anchor contradicts it. The anchors are compared before the first call is served, and
 * again whenever the database was away. A new connection of the pool is checked before it is used.
 */
@Injectable()
export class DatabaseIdentityMonitor implements OnModuleInit, BeforeApplicationShutdown {
  /** The newest checkpoint that this process has seen, and after which recovery. */
  private seen: (TreeHead & { readonly recoveredAt: number }) | undefined;
  /** A recovery that was signed before this server started does not count: somebody may have kept that note. */
  private readonly startedAt = Date.now() - CLOCKS_DIFFER_MS;
  /** The installation's name, which never changes. */
  private instance: string | undefined;
  private state: AnchorState | undefined;
  private askedAt = -Infinity;
  /** When this server last found that maintenance mode may not end. */
  private provenAt = -Infinity;
  private looking: Promise<void> | undefined;
  private isStopping = false;

  constructor(
    private readonly comparison: AnchorComparison,
    private readonly age: UnanchoredAge,
    private readonly reserve: ReservedPool,
    private readonly maintenance: MaintenanceMode,
    @Inject(LOGGER) private readonly logger: Logger,
    connections: NewConnections,
  ) {
    connections.onNew(async (run) => {
      // In maintenance mode a connection is needed to find out when that ends.
      if (!this.seen || this.maintenance.because !== undefined) return;
      if (!(await stillHas(run, this.seen))) this.enterForOtherDatabase();
      this.maintenance.assertServing();
    });
  }

  /** Before anything works, and before the first call. */
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

  /** The servers on this database. */
  get replicas(): number {
    return this.state?.replicas ?? 1;
  }

  private look(): Promise<void> {
    return (this.looking ??= this.lookOnce().finally(() => (this.looking = undefined)));
  }

  private async lookOnce(): Promise<void> {
    try {
      this.state = await anchorState(this.reserve.run, await this.comparison.anchoredSize(this.reserve.run));
      await this.check(this.state);
      this.age.measure(this.state);
    } catch (error) {
      // The database is away, and may be another one when it is back: then the anchors are asked before anything else.
      this.askAnew();
      this.logger.debug({ err: error }, 'the anchors cannot be compared while the database is away');
    }
    this.age.pass();
  }

  private async check(state: AnchorState): Promise<void> {
    const { instance, maintenanceBecause, newest } = state;
    // The start has compared the name with the signing key's.
    this.instance ??= instance;
    if (this.seen && this.comparison.isRecovered(state, this.instance, this.seen.recoveredAt)) {
      // A recovered database need not have the checkpoint that this server saw; the anchors decide.
      this.seen = undefined;
      this.askAnew();
    }
    const recoveredAt = this.seen?.recoveredAt ?? Math.max(state.recoveredAt?.getTime() ?? 0, this.startedAt);
    const isOther = instance !== this.instance || (this.seen !== undefined && !(await stillHas(this.reserve.run, this.seen)));
    // At once: the anchors may take their time.
    if (isOther) this.enterForOtherDatabase();
    else if (maintenanceBecause !== null) this.maintenance.set(maintenanceBecause);
    if (this.comparison.isDue && performance.now() - this.askedAt >= ASK_AGAIN_MS) {
      this.askedAt = performance.now();
      await this.comparison.askDue();
    }
    this.maintenance.set(maintenanceBecause ?? this.comparison.contradiction ?? (isOther ? OTHER : await this.stillBecause()));
    if (!isOther && newest) this.seen = { ...newest, recoveredAt };
  }

  /** Why maintenance mode goes on: it ends once the database has proven to continue what this server's key has signed. */
  private async stillBecause(): Promise<string | undefined> {
    const { because } = this.maintenance;
    if (because === undefined || performance.now() - this.provenAt < ASK_AGAIN_MS) return because;
    const rewritten = await this.comparison.rewritten();
    this.provenAt = rewritten === undefined ? -Infinity : performance.now();
    return rewritten;
  }

  private enterForOtherDatabase(): void {
    if (this.maintenance.because !== undefined) return;
    this.logger.error(OTHER);
    this.maintenance.set(OTHER);
    this.askAnew();
  }

  private askAnew(): void {
    this.comparison.askAnew();
    this.askedAt = -Infinity;
  }
}
