import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/auth/access/principal.js';
import { scopeOfOrganization } from '../../platform/auth/access/scope.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { Problem } from '../../platform/http/reply/problem.js';
import { AgentStore } from '../agents/agent.store.js';
import { OrganizationsQuery } from '../organizations/organizations.query.js';
import { type CallOfAgent, type TaskOfCall, TaskOfCallQuery } from '../tasks/task-of-call.query.js';
import type { DelegateDto } from './routing.dto.js';

/** Who delegates, within which task, and through whom it has come so far. */
export interface Delegation {
  readonly organizationId: string;
  readonly toAgentId: string | undefined;
  /** The agents so far, the delegating one last; none where a person gives the task. */
  readonly chain: readonly string[];
  readonly parent: TaskOfCall | undefined;
  /** The person behind it. */
  readonly initiator: string | null;
  /** The delegating agent's own call, were it to do the task itself. */
  readonly own: CallOfAgent | undefined;
}

/** Finds out in whose name a task is given. */
@Injectable()
export class DelegationParties {
  constructor(
    private readonly organizations: OrganizationsQuery,
    private readonly agents: AgentStore,
    private readonly tasks: TaskOfCallQuery,
  ) {}

  /** @throws Problem FORBIDDEN in another's name, or within a task that is not open or not the agent's; NOT_FOUND */
  async of(body: DelegateDto, inputText: string, caller: Caller): Promise<Delegation> {
    const { parentId, capability } = body.task;
    const from = await this.delegatingAgent(body, caller);
    const organizationId = from?.organizationId ?? (await this.organizations.choose(caller.scope, body.organizationId));
    const target = body.toAgentId;
    const toAgentId = target === undefined ? undefined : (await this.agents.findRef(scopeOfOrganization(organizationId), target)).id;
    if (!from) {
      if (parentId !== undefined) throw new Problem('FORBIDDEN', 'A part of a task is given by the agent that has the task.');
      const initiator = caller.principal.kind === 'user' ? caller.actorId : null;
      return { organizationId, toAgentId, chain: [], parent: undefined, initiator, own: undefined };
    }
    const own: CallOfAgent = {
      organizationId, agentId: from.id, capability, inputText,
      ...(parentId === undefined ? {} : { taskId: parentId, isPart: true }),
    };
    const [found] = await this.tasks.read([own]);
    const parent = parentOf(found, own);
    return { organizationId, toAgentId, chain: parent?.chain ?? [from.id], parent, initiator: parent?.initiator ?? null, own };
  }

  /** Under the delegating agent's head: whether it still is what it was. @throws Problem FORBIDDEN, CONFLICT */
  async assertParent(tx: Tx, { own, parent }: Delegation): Promise<void> {
    if (!own) return;
    const now = parentOf(await this.tasks.readWithin(tx, own), own);
    if (now?.id !== parent?.id) throw new Problem('CONFLICT', 'The tasks of the delegating agent have changed meanwhile. Delegate again.');
  }

  private async delegatingAgent({ fromAgentId, organizationId }: DelegateDto, { principal, scope }: Caller) {
    if (principal.kind === 'agent') {
      if (fromAgentId !== undefined && fromAgentId !== principal.agentId) {
        throw new Problem('FORBIDDEN', 'An agent delegates in its own name; leave fromAgentId out.');
      }
      return { organizationId: principal.organizationId, id: principal.agentId };
    }
    if (fromAgentId === undefined) return undefined;
    if (principal.kind !== 'root') throw new Problem('FORBIDDEN', 'People delegate in their own name; leave fromAgentId out.');
    const within = organizationId === undefined ? scope : scopeOfOrganization(await this.organizations.choose(scope, organizationId));
    return this.agents.findRef(within, fromAgentId);
  }
}

/** @throws Problem FORBIDDEN, NOT_FOUND where the task that is named cannot be the parent */
function parentOf(found: Awaited<ReturnType<TaskOfCallQuery['readWithin']>>, { taskId }: CallOfAgent): TaskOfCall | undefined {
  if (found && 'refused' in found) throw new Problem('FORBIDDEN', found.refused.replace('context', 'parentId'));
  if (taskId !== undefined && found?.id !== taskId) throw new Problem('NOT_FOUND', 'There is no such task.');
  return found;
}
