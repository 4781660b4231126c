import { type BeforeApplicationShutdown, Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { Logger } from 'pino';
import { MaintenanceMode } from '../../../platform/audit/maintenance-mode.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import { NewConnections } from '../../../platform/database/new-connections.js';
import { ReservedPool } from '../../../platform/database/reserved-pool.js';
import { LOGGER } from '../../../platform/logging/token.js';
import { readStatementOf } from '../checkpoints/read-statement.js';
import { AnchorComparison } from './anchor-comparison.service.js';
import { anchorState, type AnchorState, type Seen, stillHas } from './anchor-state.query.js';
import { UnanchoredAge } from './unanchored-age.js';

const LOOK_EVERY_MS = 1_000;
/** Anchors that have not answered, or contradict, are asked again so often. */
const ASK_AGAIN_MS = 5_000;
/** A server whose clock differs by more from the database's is not ready. */
const CLOCKS_DIFFER_MS = 2_000;
const OTHER = 'This database is not the one that this server has served until now: it was put back to an older state, or replaced. '
  + 'Put the right one back; or, if what is missing is lost for good, run `countersign recover --accept-loss`.';

/**
 * Looks every second, on every server, whether this is still the database that it was: it has the checkpoint that was last seen, nobody
 * holds it, no anchor contradicts it. The anchors are compared before the first call is served, and again whenever the database was
 * away. What it finds it leaves in memory, where calls ask. A connection that the pool makes anew is looked at before it is used.
 */
@Injectable()
export class DatabaseIdentityMonitor implements OnModuleInit, BeforeApplicationShutdown {
  /** The newest checkpoint that this process has seen, and after which recovery. */
  private seen: (Seen & { readonly recoveredAt: number }) | undefined;
  /** What recovers this installation from here on comes later: an older word of the key might be one that somebody has kept. */
  private readonly startedAt = Date.now() - CLOCKS_DIFFER_MS;
  /** Its name, which never changes. */
  private instance: string | undefined;
  private state: AnchorState | undefined;
  private askedAt = -Infinity;
  /** When this server last looked whether what is held may be served again, and found that it may not. */
  private provenAt = -Infinity;
  private looking: Promise<void> | undefined;
  private isStopping = false;

  constructor(
    private readonly agreeing: AnchorComparison,
    private readonly age: UnanchoredAge,
    private readonly reserve: ReservedPool,
    private readonly hold: MaintenanceMode,
    @Inject(LOGGER) private readonly logger: Logger,
    connections: NewConnections,
  ) {
    connections.onNew(async (run) => {
      // Whoever is given one of a database that is held already asks for what is told also then.
      if (!this.seen || this.hold.because !== undefined) return;
      if (!(await stillHas(readStatementOf(run), this.seen))) this.holdForOther();
      this.hold.assertServing();
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
      this.state = await anchorState(this.run, await this.agreeing.anchoredSize(this.run));
      await this.judge(this.state);
      this.age.measure(this.state);
    } catch (error) {
      // The database is away, and may be another one when it is back: then the anchors are asked before anything else.
      this.askAnew();
      this.logger.debug({ err: error }, 'the anchors cannot be compared while the database is away');
    }
    this.age.pass();
  }

  private async judge(state: AnchorState): Promise<void> {
    const { instance, heldBecause, newest } = state;
    // Whoever started this server has compared it with the signing key.
    this.instance ??= instance;
    if (this.seen && this.agreeing.isRecovered(state, this.instance, this.seen.recoveredAt)) {
      // What we have seen need not be there, and the anchors decide.
      this.seen = undefined;
      this.askAnew();
    }
    const recoveredAt = this.seen?.recoveredAt ?? Math.max(state.recoveredAt?.getTime() ?? 0, this.startedAt);
    const isOther = instance !== this.instance || (this.seen !== undefined && !(await stillHas(this.run, this.seen)));
    // At once: the anchors may take their time.
    if (isOther) this.holdForOther();
    else if (heldBecause !== undefined) this.hold.set(heldBecause);
    if (this.agreeing.isDue && performance.now() - this.askedAt >= ASK_AGAIN_MS) {
      this.askedAt = performance.now();
      await this.agreeing.askDue();
    }
    this.hold.set(heldBecause ?? this.agreeing.contradiction ?? (isOther ? OTHER : await this.stillHeld()));
    if (!isOther && newest) this.seen = { ...newest, recoveredAt };
  }

  /** What was held is served again once it has proven to be what this server's key has signed; that may have to be tried again. */
  private async stillHeld(): Promise<string | undefined> {
    const { because } = this.hold;
    if (because === undefined || performance.now() - this.provenAt < ASK_AGAIN_MS) return because;
    const rewritten = await this.agreeing.rewritten();
    this.provenAt = rewritten === undefined ? -Infinity : performance.now();
    return rewritten;
  }

  private holdForOther(): void {
    if (this.hold.because !== undefined) return;
    this.logger.error(OTHER);
    this.hold.set(OTHER);
    this.askAnew();
  }

  private askAnew(): void {
    this.agreeing.askAnew();
    this.askedAt = -Infinity;
  }

  private readonly run: ReadStatement = (sql, parameters) => readStatementOf(this.reserve.run)(sql, parameters);
}
