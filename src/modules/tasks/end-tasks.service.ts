import { Inject, Injectable } from '@nestjs/common';
import { type ChainRef, agentChain } from '../../domain/audit/entry/chain.js';
import { taskStatusOf } from '../../domain/tasks/task-status.js';
import type { Caller } from '../../platform/auth/access/principal.js';
import { scopeOfOrganization } from '../../platform/auth/access/scope.js';
import { countOpenTasks } from '../../platform/database/transaction/open-tasks.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../platform/http/reply/problem.js';
import type { Reply } from '../../platform/http/reply/replies.js';
import { Waiters } from '../../platform/wake/waiters.js';
import { type TaskRef, TaskStore } from './task.store.js';
import { presentTask, type TaskEnvelope } from './tasks.presenter.js';

/** Ends tasks that nobody has taken: each under the head of its agent, with its entry. What was taken ends with its execution. */
@Injectable()
export class EndTasksService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly tasks: TaskStore,
    @Inject(Waiters) private readonly waiters: Pick<Waiters, 'wake'>,
  ) {}

  /** Cancels a task, and what was delegated within it. @throws Problem NOT_FOUND; CONFLICT where it is running or over */
  async cancel(id: string, caller: Caller): Promise<Reply<TaskEnvelope>> {
    const ref = await this.tasks.findRef(caller.scope, id);
    const within = await this.tasks.assignedWithin(scopeOfOrganization(ref.organizationId), ref);
    const refs = [ref, ...within];
    return this.work.run({ chains: headsOf(refs), evenIfClosed: true }, async (tx) => {
      const task = await this.tasks.read(tx, ref);
      const status = taskStatusOf(task);
      if (status === 'running') {
        throw new Problem('CONFLICT', `The task is running: cancel its execution, POST /api/v1/executions/${task.executionId}/cancel.`);
      }
      if (status !== 'assigned') throw new Problem('CONFLICT', `The task is ${status} already.`);
      await this.endWithin(tx, ref.organizationId, [ref.id], 'asked');
      await this.endWithin(tx, ref.organizationId, within.map((one) => one.id), 'parent_ended');
      return tx.reply(200, { task: presentTask(await this.tasks.read(tx, ref)) });
    });
  }

  /** Ends what an agent still has to do, in the caller's unit of work, under its head. @param reason a code */
  async endOf(tx: Tx, organizationId: string, agentId: string, reason: string): Promise<void> {
    await this.endWithin(tx, organizationId, await this.tasks.assignedTo(tx, organizationId, agentId), reason);
  }

  /** Ends these tasks, where they are assigned, in the caller's unit of work, under the heads of their agents. */
  async endWithin(tx: Tx, organizationId: string, ids: readonly string[], reason: string): Promise<void> {
    if (ids.length === 0) return;
    const ended = await this.tasks.cancel(tx, organizationId, ids, reason);
    for (const { id, toAgentId } of ended) {
      const chain = agentChain(organizationId, toAgentId);
      tx.record(tx.chainNow(chain), { type: 'task.ended', metadata: { taskId: id, status: 'cancelled', reason } });
      countOpenTasks(tx, chain, -1);
    }
    tx.onCommit(() => ended.forEach(({ id }) => this.waiters.wake(id)));
  }

  /** Ends tasks that can be done no more, of one organization, in a unit of work of its own. */
  async endOrphans(organizationId: string, refs: readonly TaskRef[]): Promise<void> {
    await this.work.run({ chains: headsOf(refs), evenIfClosed: true }, (tx) =>
      this.endWithin(tx, organizationId, refs.map(({ id }) => id), 'parent_ended'));
  }
}

function headsOf(refs: readonly TaskRef[]): ChainRef[] {
  const agents = new Map(refs.map(({ organizationId, toAgentId }) => [toAgentId, agentChain(organizationId, toAgentId)]));
  return [...agents.values()];
}
