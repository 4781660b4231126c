import { Injectable } from '@nestjs/common';
import { recordsNothing } from '../../platform/auth/access/call-context.js';
import type { AgentPrincipal } from '../../platform/auth/access/principal.js';
import { pipelined } from '../../platform/database/transaction/pipelined.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../platform/http/reply/problem.js';
import { Waiters } from '../../platform/wake/waiters.js';
import { closeWithin } from '../executions/closing/close-within.js';
import type { ExecutionEntity } from '../executions/execution.entity.js';
import { ExecutionStore } from '../executions/execution.store.js';
import { StillAllowedService } from '../gate/execution/still-allowed.service.js';
import { planFor } from '../hitl/requests/request-plan.js';
import { NodeWorkStore } from './node-work.store.js';
import type { Work } from './work.js';

/** A work with its execution, read and locked under the head of its agent. */
export interface ReadWork {
  readonly work: Work | undefined;
  readonly execution: ExecutionEntity | undefined;
}

/** A work with its execution as they were at a moment. */
export interface FoundWork {
  readonly work: (Work & { readonly readAt: Date }) | undefined;
  readonly execution: ExecutionEntity | undefined;
}

/** A work that begins with this commit: the one time at which its input is handed out. */
export interface StartedWork {
  readonly work: Work;
  readonly execution: ExecutionEntity;
}

/** A node begins what it has leased: the last question to the gate, under the locks, and a compare-and-set on the lease. */
@Injectable()
export class StartWorkService {
  constructor(
    private readonly units: UnitOfWork,
    private readonly store: NodeWorkStore,
    private readonly executions: ExecutionStore,
    private readonly allowed: StillAllowedService,
    private readonly waiters: Waiters,
  ) {}

  /**
   * @throws Problem NOT_FOUND for what is no work of this agent; CAPABILITY_NOT_IN_TOKEN; CONFLICT where the lease does not hold any
   * more; NOT_EXECUTABLE where the gate refuses now: the execution is closed as failed then
   */
  async start(executionId: string, fence: number, node: AgentPrincipal): Promise<StartedWork> {
    const ref = { organizationId: node.organizationId, executionId };
    const known = await this.find(ref);
    const begun = await this.startInBatch(known, fence, node);
    if (begun) {
      recordsNothing();
      return begun;
    }
    // An execution keeps the chain of its task, so that it can be read before the heads of the chain are locked.
    const plan = planFor({ ...node, taskChain: known.execution?.taskChain ?? null });
    const outcome = await this.units.runOn(plan, (tx) => this.read(tx, ref), async (tx, read) => {
      const { work, execution } = ownWork(read, node);
      const { capabilities } = node;
      if (capabilities !== 'any' && !capabilities.includes(execution.capability)) throw notInToken(execution.capability);
      if (work.status !== 'leased' || work.fence !== fence || !isAt(work, execution)) throw new Problem('CONFLICT', whyNot(work, fence));
      const hindrance = await this.allowed.hindrance(tx, execution);
      if (hindrance !== undefined) return this.refuse(tx, work, execution, hindrance);
      if (await this.store.start(tx, work, node.epoch)) return { work, execution };
      throw new Problem('CONFLICT', 'The lease does not hold any more. Lease anew.');
    });
    if (!('code' in outcome)) {
      recordsNothing();
      return outcome;
    }
    this.waiters.wake(executionId);
    throw new Problem('NOT_EXECUTABLE', `The action may not be done any more: ${outcome.code}. Nothing was done.`);
  }

  /** Both rows as they are at this moment, without a lock. */
  async find({ organizationId, executionId }: { organizationId: string; executionId: string }): Promise<FoundWork> {
    const [work, execution] = await Promise.all([
      this.store.batches.find({ organizationId, executionId }), this.executions.find({ organizationId, id: executionId }),
    ]);
    return { work, execution };
  }

  /** Both rows, locked, where they are there. */
  read(tx: Tx, { organizationId, executionId }: { organizationId: string; executionId: string }): Promise<ReadWork> {
    return pipelined([
      this.store.read(tx, { organizationId, executionId }),
      this.executions.readAny(tx, { organizationId, id: executionId }),
    ]).then(([work, execution]) => ({ work, execution }));
  }

  /** With those of other nodes, by facts whose revisions are compared under the locks; undefined where that is not enough. */
  private async startInBatch({ work, execution }: FoundWork, fence: number, node: AgentPrincipal): Promise<StartedWork | undefined> {
    if (work?.agentId !== node.agentId || execution === undefined) return undefined;
    const isHeld = node.capabilities === 'any' || node.capabilities.includes(execution.capability);
    if (!isHeld || work.status !== 'leased' || work.fence !== fence || !isAt(work, execution)) return undefined;
    const facts = await this.allowed.byRevision(execution, node);
    if (facts === undefined) return undefined;
    if ((await this.store.batches.start({ node, work, facts })) === 'ok') return { work, execution };
    this.allowed.forget(execution, node);
    return undefined;
  }

  private async refuse(tx: Tx, work: Work, execution: ExecutionEntity, hindrance: string): Promise<{ readonly code: string }> {
    const code = hindrance.toUpperCase();
    const error = { code, message: 'The gate refused it when its node was to begin. Nothing was done.' };
    await this.store.withdrawWithin(tx, work);
    // Of a later beginning nobody knows what the nodes of the earlier ones did.
    await closeWithin(tx, this.executions, execution, { status: execution.fence === 1 ? 'failed' : 'indeterminate', error });
    return { code };
  }
}

/** As at the gate: a token is good for what it names. */
export function notInToken(capability: string): Problem {
  const detail = `Work of ${capability} waits for a node, and this token does not hold it. Refresh the token, and acknowledge the changed `
    + 'capabilities; an agent key needs no refreshing.';
  return new Problem('CAPABILITY_NOT_IN_TOKEN', detail);
}

/** @throws Problem NOT_FOUND */
export function ownWork({ work, execution }: ReadWork, { agentId }: AgentPrincipal): { work: Work; execution: ExecutionEntity } {
  if (work?.agentId !== agentId || execution === undefined) throw new Problem('NOT_FOUND', 'This agent has no such work.');
  return { work, execution };
}

/** Whether the execution runs, and is at the beginning that the work is of. */
export function isAt(work: Work, execution: ExecutionEntity): boolean {
  return execution.status === 'running' && execution.fence === work.executionFence;
}

function whyNot({ status, fence: newest }: Work, fence: number): string {
  if (newest !== fence) return 'This is not the newest lease of the work: another has taken it since.';
  if (status === 'started') return 'It has been started, and its input was handed out once.';
  return 'The work is over.';
}
