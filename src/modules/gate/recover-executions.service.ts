import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { agentChain } from '../../domain/audit/chain.js';
import { asService } from '../../platform/auth/call-context.js';
import { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { notify } from '../../platform/outbox/effects.js';
import { isPassing } from '../../platform/http/failure.js';
import { Waiters } from '../../platform/wake/waiters.js';
import { type ExecutionPlace, ExecutionStore } from '../executions/execution.store.js';

const LOOK_EVERY_MS = 5_000;
const AT_ONCE = 100;
const ABANDONED = {
  code: 'INDETERMINATE',
  message: 'The server ended while the action was running. It may have been done; it is not repeated.',
} as const;

/**
 * Closes executions that a crash left running. Whether the action was done nobody here can tell, so it is never repeated:
 * the execution becomes indeterminate, the log says so, and people are told.
 */
@Injectable()
export class RecoverExecutionsService implements OnApplicationBootstrap {
  private looking = false;

  constructor(
    private readonly work: UnitOfWork,
    private readonly executions: ExecutionStore,
    private readonly waiters: Waiters,
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
          await this.close(place).catch((error: unknown) => {
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

  private async close(place: ExecutionPlace): Promise<void> {
    const chain = agentChain(place.organizationId, place.agentId);
    // No agent leaves while something of it runs, so a closed segment has nothing to close: somebody else was first.
    await this.work.run({ chains: [chain], leavesFacts: true, evenIfClosed: true }, async (tx) => {
      const execution = await this.executions.read(tx, place);
      const now = await tx.now();
      // Read again under the locks: the runtime's own answer may have come in meanwhile.
      if (execution.status !== 'running' || execution.leaseUntil === null || execution.leaseUntil > now) return;
      const auditId = tx.record(
        chain,
        {
          type: 'execution.failed',
          capability: execution.capability,
          metadata: {
            executionId: execution.id,
            error: ABANDONED,
            outcome: 'indeterminate',
            ...(execution.hitlRequestId === null ? {} : { hitlId: execution.hitlRequestId }),
            ...(execution.flagged ? { flagged: true } : {}),
          },
        },
        { closing: true },
      );
      await this.executions.move(tx, 'running', {
        ...execution, status: 'indeterminate', error: ABANDONED, auditId, closedAt: now, leaseUntil: null,
      });
      tx.enqueue(notify(place.organizationId, 'execution.indeterminate', { executionId: execution.id }));
    });
    this.waiters.wake(place.id);
  }
}
