import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { agentChain } from '../../domain/audit/chain.js';
import { asService } from '../../platform/auth/call-context.js';
import type { Tx } from '../../platform/database/tx.js';
import { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { notify } from '../../platform/outbox/effects.js';
import { isPassing } from '../../platform/http/failure.js';
import type { ExecutionEntity } from '../executions/execution.entity.js';
import { type ExecutionPlace, ExecutionStore } from '../executions/execution.store.js';
import { HitlRequestStore } from '../hitl/hitl-request.store.js';
import type { StartedExecution } from './admission-item.js';
import { BeginApprovedService } from './begin-approved.service.js';
import { RunExecutionService } from './run-execution.service.js';

const LOOK_EVERY_MS = 5_000;
const AT_ONCE = 100;
/** How often one execution may begin. What ended the server each time would go on doing so. */
const BEGINNINGS_MAX = 3;
const CODE = 'INDETERMINATE';
const UNKNOWN = 'The server ended while the action was running. It may have been done; it is not repeated';

/** Begun again, or the reason why not, as the end of a sentence. */
type Again = StartedExecution | { readonly because: string };

/**
 * Ends what a crash left running, once its lease is over. Whether the action was done nobody here can tell, so it is not repeated:
 * the execution becomes indeterminate, the log says so, and people are told. But where an approved action's runtime is declared
 * idempotent, it is called again with the same key. That is a beginning like the first: with a fence and a lease of its own,
 * after the same questions. What began at the gate is never repeated: it rested on its caller's token and is for the caller to ask again.
 */
@Injectable()
export class RecoverExecutionsService implements OnApplicationBootstrap {
  private looking = false;

  constructor(
    private readonly work: UnitOfWork,
    private readonly executions: ExecutionStore,
    private readonly requests: HitlRequestStore,
    private readonly beginning: BeginApprovedService,
    private readonly running: RunExecutionService,
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
        for (const place of await this.executions.abandoned(AT_ONCE)) {
          // One chain that somebody holds does not keep the others waiting: it comes round again.
          await this.recover(place).catch((error: unknown) => {
            if (!isPassing(error)) throw error;
          });
        }
      });
    } catch {
      // The database is away: the next tick looks again.
    } finally {
      this.looking = false;
    }
  }

  private async recover(place: ExecutionPlace): Promise<void> {
    const { organizationId } = place;
    const chain = agentChain(organizationId, place.agentId);
    // No agent leaves while something of it runs, so a closed segment has nothing to close: somebody else was first.
    const plan = { chains: [chain], judges: [organizationId], leavesFacts: true, evenIfClosed: true } as const;
    const begun = await this.work.run(plan, async (tx) => {
      const execution = await this.executions.read(tx, place);
      // Read again under the locks: the runtime's own answer may have come in meanwhile, or another server began it again.
      if (execution.status !== 'running' || execution.leaseUntil === null || execution.leaseUntil > (await tx.now())) return undefined;
      const again = await this.retry(tx, execution);
      if (!('because' in again)) return again;
      await this.close(tx, execution, again.because);
      return undefined;
    });
    if (begun) void this.running.run(begun).catch(() => undefined);
    else this.running.announce(place.id);
  }

  private async retry(tx: Tx, execution: ExecutionEntity): Promise<Again> {
    const { organizationId, agentId, capability, hitlRequestId, fence } = execution;
    if (hitlRequestId === null) return { because: '' };
    const request = await this.requests.read(tx, { organizationId, id: hitlRequestId });
    const { facts, hindrance } = await this.beginning.judge(tx, execution, request);
    if (!this.running.bearsRepetition(execution.runtime, facts.definition)) return { because: '' };
    // Among what is asked is that the definition is the one under which it began: its call was declared to bear this.
    if (hindrance !== undefined) return { because: `: ${hindrance}` };
    if (fence >= BEGINNINGS_MAX) return { because: ` after ${fence} beginnings` };
    const begun = await this.beginning.begin(tx, execution, request, facts);
    tx.record(agentChain(organizationId, agentId), {
      type: 'execution.retried',
      capability,
      metadata: {
        executionId: execution.id, hitlId: request.id, attempt: begun.fence, ...(execution.flagged ? { flagged: true } : {}),
      },
    });
    return begun;
  }

  private async close(tx: Tx, execution: ExecutionEntity, because: string): Promise<void> {
    const { organizationId, agentId, capability, hitlRequestId } = execution;
    const error = { code: CODE, message: `${UNKNOWN}${because}.` };
    const auditId = tx.record(
      agentChain(organizationId, agentId),
      {
        type: 'execution.failed',
        capability,
        metadata: {
          executionId: execution.id,
          error,
          outcome: 'indeterminate',
          ...(hitlRequestId === null ? {} : { hitlId: hitlRequestId }),
          ...(execution.flagged ? { flagged: true } : {}),
        },
      },
      { closing: true },
    );
    await this.executions.move(tx, 'running', {
      ...execution, status: 'indeterminate', error, auditId, closedAt: await tx.now(), leaseUntil: null,
    });
    tx.enqueue(notify(organizationId, 'execution.indeterminate', { executionId: execution.id }));
  }
}
