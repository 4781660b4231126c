import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import type { Logger } from 'pino';
import { MaintenanceMode } from '../../../platform/audit/maintenance-mode.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { Leadership, NotLeading } from '../../../platform/database/leadership/leadership.js';
import { isPassing } from '../../../platform/http/reply/failure.js';
import { LOGGER } from '../../../platform/logging/token.js';
import { enterMaintenance } from '../../organizations/installation/maintenance-mode.store.js';
import { AnchorComparison } from '../anchors/anchor-comparison.service.js';
import { newestCheckpoint } from './checkpoint.query.js';
import { makeCheckpoints } from './sign-checkpoints.js';
import { now } from './checkpoint.store.js';
import { LeafIntegrator } from './leaf-integrator.js';
import { rewrittenMessage, rewrittenText } from './rewritten-trees.js';
import { SignedState } from './signed-state.js';
import { currentSigner, OtherKey } from '../keys/signer.js';

const LOOK_EVERY_MS = 500;
/** Whoever watches the log from outside sees by it that it is alive. */
const IDLE_CHECKPOINT_MS = 10 * 60_000;
/** Signing for so many takes some tens of milliseconds; if more have grown, rounds follow one another. */
const ORGANIZATIONS_PER_ROUND = 500;

/** What this process knows of the lead that it holds. */
interface Lead {
  readonly term: number;
  readonly trees: SignedState;
  readonly integrator: LeafIntegrator;
  /** Organizations that have grown since their last checkpoint; null: not known. */
  grown: Set<string> | null;
  /** When the next checkpoint is due, by the process's monotonic clock: if something grew, and in any case. */
  due: number;
  dueAnyway: number;
  agreed: boolean;
}

/** While this replica leads: takes leaves from the queue into their trees, and signs checkpoints. */
@Injectable()
export class CheckpointLeader implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private lead: Lead | undefined;
  private timer: NodeJS.Timeout | undefined;
  private working: Promise<void> = Promise.resolve();
  private stopping = false;
  private troubled: string | undefined;

  constructor(
    private readonly leadership: Leadership,
    private readonly anchors: AnchorComparison,
    private readonly maintenance: MaintenanceMode,
    @Inject(CONFIG) private readonly config: CompleteConfig,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.look();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.timer);
    await this.working;
  }

  private look(): void {
    this.working = this.work().finally(() => {
      if (!this.stopping) this.timer = setTimeout(() => this.look(), LOOK_EVERY_MS).unref();
    });
  }

  private async work(): Promise<void> {
    try {
      if (this.leadership.isLeader) await this.keep(await this.takeUp());
      this.troubled = undefined;
    } catch (error) {
      this.lead = undefined;
      if (error instanceof OtherKey && error.isVouchedFor) this.leadership.abstain();
      const isNews = this.report(error);
      const rewritten = rewrittenMessage(error);
      // Found twice, the second time from nothing but the database.
      if (rewritten !== undefined && !isNews) await this.enterMaintenance(rewritten).catch((failure: unknown) => this.report(failure));
    }
  }

  /** What is to be known once for each lead. */
  private async takeUp(): Promise<Lead> {
    const { term } = this.leadership;
    if (this.lead?.term === term) return this.lead;
    const trees = await this.leadership.transact(async (run) =>
      SignedState.asSigned(run, await currentSigner(run, this.config.auditSigningKey)));
    const age = await this.leadership.run(async (run) => {
      const newest = await newestCheckpoint(run);
      // When it was made is the row's word: one of the future must not put the next one off.
      const since = (await now(run)).getTime() - Date.parse(newest?.madeAt ?? '');
      return Number.isNaN(since) ? Number.POSITIVE_INFINITY : Math.max(0, since);
    });
    const made = performance.now() - age;
    const integrator = new LeafIntegrator(this.leadership, trees);
    this.lead = { term, trees, integrator, grown: null, due: made + this.everyMs, dueAnyway: made + IDLE_CHECKPOINT_MS, agreed: false };
    return this.lead;
  }

  private async keep(lead: Lead): Promise<void> {
    let mayBeMore = true;
    while (mayBeMore && !this.stopping) {
      const { organizations, more } = await lead.integrator.round();
      for (const one of organizations) lead.grown?.add(one);
      mayBeMore = more;
      while (this.isDue(lead) && !this.stopping) await this.sign(lead);
    }
  }

  private isDue({ grown, due, dueAnyway }: Lead): boolean {
    const at = performance.now();
    return at >= dueAnyway || (at >= due && (grown === null || grown.size > 0));
  }

  private async sign(lead: Lead): Promise<void> {
    const begun = performance.now();
    if (!lead.agreed) {
      await this.anchors.agree();
      lead.agreed = true;
    }
    const made = await this.leadership.transact(async (run) => {
      // Between two works of the same process somebody else may have led, and signed what ours then must agree with.
      if (this.leadership.term !== lead.term) throw new NotLeading();
      const { instance, key } = await currentSigner(run, this.config.auditSigningKey);
      const organizations = lead.grown && [...lead.grown];
      return makeCheckpoints(run, { instance, keys: [key], trees: lead.trees, organizations, limit: ORGANIZATIONS_PER_ROUND });
    });
    lead.trees.adopt(made.signed);
    this.settle(lead, made.organizations, begun);
  }

  private settle(lead: Lead, signed: readonly string[], begun: number): void {
    const isLast = signed.length < ORGANIZATIONS_PER_ROUND;
    if (isLast) lead.grown = new Set();
    else for (const one of signed) lead.grown?.delete(one);
    if (isLast) lead.due = begun + this.everyMs;
    lead.dueAnyway = begun + IDLE_CHECKPOINT_MS;
  }

  private get everyMs(): number {
    return this.config.auditCheckpointSeconds * 1_000;
  }

  /** Nobody is served from a database that was rewritten: its grants and approvals may be forged, too. */
  private async enterMaintenance(message: string): Promise<void> {
    const because = rewrittenText(message);
    this.logger.error(because);
    await this.leadership.run((run) => enterMaintenance(run, because));
    // Last: in maintenance mode no replica leads.
    this.maintenance.set(because);
  }

  /** Once for each trouble, however often it comes. @returns whether it came now */
  private report(error: unknown): boolean {
    if (error instanceof NotLeading || this.stopping || isPassing(error)) return true;
    const trouble = error instanceof Error ? `${error.name} ${error.message}` : String(error);
    if (this.troubled === trouble) return false;
    this.troubled = trouble;
    this.logger.warn({ err: error }, 'leaves were not integrated or checkpoints not signed; it is tried again');
    return true;
  }
}
