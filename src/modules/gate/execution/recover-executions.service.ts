import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { Logger } from 'pino';
import { basisOf } from '../../../domain/audit/catalogue/basis.js';
import { agentChain } from '../../../domain/audit/entry/chain.js';
import { asService } from '../../../platform/auth/access/call-context.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { LOGGER } from '../../../platform/logging/token.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import { isPassing } from '../../../platform/http/reply/failure.js';
import { closeIndeterminate, closeWithin } from '../../executions/closing/close-within.js';
import type { ExecutionEntity } from '../../executions/execution.entity.js';
import { type ExecutionRef, ExecutionStore } from '../../executions/execution.store.js';
import { delegatorsOf } from '../../executions/started-event.js';
import { planFor } from '../../hitl/requests/request-plan.js';
import type { StartedExecution } from '../admission/admission-item.js';
import { BeginApprovedService } from './begin-approved.service.js';
import { RunExecutionService } from './run-execution.service.js';

const LOOK_EVERY_MS = 5_000;
const AT_ONCE = 100;
const BROKEN_FOR_MS = 60_000;
/** How often one execution may begin: an action that ended the server each time would end it again. */
const BEGINNINGS_MAX = 3;
const UNKNOWN = 'The server ended while the action was running. It may have been done; it is not repeated';

/** The execution that was begun again, or the reason why none was, as the end of a sentence. */
type Again = StartedExecution | { readonly because: string };

/**
 * Ends executions that a crash left running, once their leases are over. Whether the action was done cannot be known here, so it is not
 * repeated: the execution becomes indeterminate, the log says so, and people are notified. But where an approved action's runtime is
 * declared idempotent, the runtime is called again with the same key. That is a beginning like the first: with a fence and a lease of its
 * own, after the same checks. An execution that began at the gate is never repeated: it rested on its caller's token, and the caller may
 * ask again. A runtime that writes down who has a call (a node's) is asked first: what nobody has begun has failed, and is not unknown.
 * What a node has answered is closed already, in the commit that took the answer.
 */
@Injectable()
export class RecoverExecutionsService implements OnApplicationBootstrap {
  private looking = false;
  /** Executions that could not be ended, and until when they are left alone. */
  private readonly broken = new Map<string, number>();

  constructor(
    private readonly work: UnitOfWork,
    private readonly executions: ExecutionStore,
    private readonly beginning: BeginApprovedService,
    private readonly running: RunExecutionService,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly metrics: Metrics,
  ) {}

  onApplicationBootstrap(): void {
    void this.tick();
  }

  @Interval(LOOK_EVERY_MS)
  async tick(): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    try {
      await asService('sweeper', async () => {
        const left = await this.executions.abandoned(AT_ONCE + this.broken.size);
        for (const ref of left.filter(({ id }) => !this.isBroken(id))) await this.recoverOne(ref);
      });
      this.metrics.count('countersign_sweeps_total', { sweep: 'executions', outcome: 'done' });
    } catch (error) {
      this.metrics.count('countersign_sweeps_total', { sweep: 'executions', outcome: 'failed' });
      // The database is away, or busy: the next look tries again, and readiness says so.
      if (!isPassing(error)) this.logger.error({ err: error }, 'abandoned executions could not be looked for; the next look tries again');
    } finally {
      this.looking = false;
    }
  }

  /** An execution whose chain is locked, or whose row cannot be ended, does not keep the others waiting: it is tried again later. */
  private async recoverOne(ref: ExecutionRef): Promise<void> {
    try {
      await this.recover(ref);
    } catch (error) {
      if (isPassing(error)) return;
      this.logger.error({ err: error, executionId: ref.id }, 'an abandoned execution could not be ended; it is tried again in a minute');
      this.broken.set(ref.id, performance.now() + BROKEN_FOR_MS);
    }
  }

  private isBroken(id: string): boolean {
    const until = this.broken.get(id);
    if (until !== undefined && until <= performance.now()) this.broken.delete(id);
    return this.broken.has(id);
  }

  private async recover(ref: ExecutionRef): Promise<void> {
    // No agent leaves while an execution of it runs. So where the agent's segment is closed, another server was first.
    let hitlRequestId: string | undefined;
    const begun = await this.work.run(planFor(ref), async (tx) => {
      const execution = await this.executions.read(tx, ref);
      hitlRequestId = execution.hitlRequestId ?? undefined;
      // Read again under the locks: the runtime's own answer may have come in meanwhile, or another server began it again.
      if (execution.status !== 'running' || execution.leaseUntil === null || execution.leaseUntil > (await tx.now())) return undefined;
      const left = await this.running.withdraw(tx, execution.runtime, execution);
      if (left.kind === 'untouched') {
        const chain = agentChain(execution.organizationId, execution.agentId);
        for (const event of left.events ?? []) tx.record(chain, event);
        await closeWithin(tx, this.executions, execution, { status: 'failed', error: left.error });
        return undefined;
      }
      const again = left.kind === 'had' ? await this.retry(tx, execution) : { because: '' };
      if (!('because' in again)) return again;
      await closeIndeterminate(tx, this.executions, execution, `${UNKNOWN}${again.because}.`);
      return undefined;
    });
    if (begun) void this.running.run(begun).catch(() => undefined);
    else this.running.announce(ref.id, hitlRequestId);
  }

  private async retry(tx: Tx, execution: ExecutionEntity): Promise<Again> {
    const { organizationId, agentId, capability, hitlRequestId, fence, taskId, taskChain } = execution;
    if (hitlRequestId === null) return { because: '' };
    const approved = await this.beginning.read(tx, {
      organizationId, agentId, executionId: execution.id, hitlRequestId, capability,
      ...(taskId === null ? {} : { taskId, taskChain: taskChain ?? [] }),
    });
    const { request, facts } = approved;
    const hindrance = this.beginning.hindrance(approved);
    if (!this.running.bearsRepetition(execution.runtime, facts.definition)) return { because: '' };
    // `hindrance` has compared the definition with the one under which the execution began: that one declared its call idempotent.
    if (hindrance !== undefined) return { because: `: ${hindrance}` };
    if (fence >= BEGINNINGS_MAX) return { because: ` after ${fence} beginnings` };
    const begun = this.beginning.begin(tx, approved);
    tx.record(agentChain(organizationId, agentId), {
      type: 'execution.retried',
      capability,
      metadata: {
        executionId: execution.id, hitlId: request.id, attempt: begun.fence,
        grantId: facts.grant!.id, grantVersion: facts.grant!.version, basis: basisOf(facts), flagged: execution.flagged,
        ...delegatorsOf(facts.task?.delegators),
      },
    });
    return begun;
  }
}
