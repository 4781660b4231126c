import { Inject, Injectable } from '@nestjs/common';
import { agentChain } from '../../domain/audit/entry/chain.js';
import { jcs } from '../../domain/audit/entry/jcs.js';
import type { GateCall } from '../../domain/gate/decide.js';
import { newId } from '../../domain/ids.js';
import type { JsonObject } from '../../domain/json.js';
import { CHAIN_MAX } from '../../domain/tasks/task-status.js';
import type { Caller } from '../../platform/auth/access/principal.js';
import { CONFIG, type CompleteConfig } from '../../platform/config/config.js';
import { countOpenTasks } from '../../platform/database/transaction/open-tasks.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../platform/http/reply/problem.js';
import type { Reply } from '../../platform/http/reply/replies.js';
import { decideAlone } from '../authority/decide-by-facts.js';
import { FactsQuery } from '../authority/facts.query.js';
import { type NewTask, TaskStore } from '../tasks/task.store.js';
import { presentTask } from '../tasks/tasks.presenter.js';
import { type Delegation, DelegationParties } from './delegation-parties.service.js';
import { ResolveAgentService, shownTo } from './resolve-agent.service.js';
import type { DelegateDto } from './routing.dto.js';
import { type DelegationReply, presentDecision } from './routing.presenter.js';

/**
 * Gives a task to an agent. Nobody passes on what they may not do themselves: each agent of the chain is asked about this very call,
 * under the heads of all of them. What the task allows is asked again when it is done; a task is no right.
 */
@Injectable()
export class DelegateTaskService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly parties: DelegationParties,
    private readonly resolving: ResolveAgentService,
    private readonly facts: FactsQuery,
    private readonly tasks: TaskStore,
    @Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'hitlMaxPendingPerAgent'>,
  ) {}

  /** @throws Problem CONFLICT for a circle, or past the depth; 403 that names the agent that may not; what finding an agent throws */
  async delegate(body: DelegateDto, caller: Caller): Promise<Reply<DelegationReply>> {
    const input = body.task.input ?? {};
    const inputText = jcs(input);
    const { capability, description } = body.task;
    const delegation = await this.parties.of(body, inputText, caller);
    const { organizationId, chain } = delegation;
    if (chain.length >= CHAIN_MAX) {
      throw new Problem('CONFLICT', `A task goes through ${CHAIN_MAX} agents at most: ${chain.join(', ')} had this one before.`);
    }
    const decision = delegation.toAgentId === undefined
      ? await this.resolving.find({
          organizationId, capabilities: [capability], description: description ?? undefined, tags: [], exclude: [], chain,
        }, caller)
      : undefined;
    const toAgentId = delegation.toAgentId ?? decision!.agentId;
    if (chain.includes(toAgentId)) throw new Problem('CONFLICT', `Agent ${toAgentId} had the task before: it would go round in a circle.`);
    const all = [...chain, toAgentId];
    return this.work.run({ chains: all.map((id) => agentChain(organizationId, id)), judges: [organizationId] }, async (tx) => {
      await this.parties.assertParent(tx, delegation);
      const call = { capability, input, tokenCapabilities: 'any' as const };
      const now = await this.assertAllowed(tx, delegation, toAgentId, call, caller);
      const task: NewTask = {
        organizationId, id: newId('task'), toAgentId, chain: all, capability, input: inputText, description: description ?? null,
        parentId: delegation.parent?.id ?? null, ancestors: delegation.parent ? [...delegation.parent.ancestors, delegation.parent.id] : [],
        fromAgentId: chain.at(-1) ?? null, delegatedBy: caller.actorId, initiator: delegation.initiator,
        decisionId: decision?.id ?? null, createdAt: now,
      };
      this.give(tx, task, input);
      const given = { ...task, status: 'assigned', executionId: null, executionStatus: null, isWithinEnded: false, reason: null } as const;
      const shown = decision ? { decision: presentDecision(shownTo(caller, decision)) } : {};
      return tx.reply(201, { task: presentTask({ ...given, endedAt: null }), ...shown });
    });
  }

  /** @returns the database's clock */
  private async assertAllowed(
    tx: Tx, { organizationId, chain }: Delegation, toAgentId: string, call: Omit<GateCall, 'now'>, { principal }: Caller,
  ): Promise<Date> {
    const { capability } = call;
    const facts = await this.facts.readWithin(tx, { organizationId, agentId: toAgentId, capability, task: { id: '', chain } });
    if (principal.kind === 'agent' && principal.capabilities !== 'any' && !principal.capabilities.includes(capability)) {
      throw new Problem('CAPABILITY_NOT_IN_TOKEN', `The token of agent ${principal.agentId} does not hold ${capability}.`);
    }
    for (const one of [...facts.task!.delegators, { agentId: toAgentId, facts }]) {
      const decision = decideAlone(one.facts, { ...call, now: facts.now });
      if (decision.kind === 'refuse') throw new Problem(decision.code, `Agent ${one.agentId}: ${decision.detail}`);
      if (decision.kind === 'block') throw new Problem('CAPABILITY_BLOCKED', `Agent ${one.agentId}: ${decision.reason}.`);
      if (decision.kind === 'invalid') {
        const errors = decision.errors.map(({ pointer, message }) => ({ pointer: `/task${pointer}`, message }));
        throw new Problem(decision.code, 'The input does not fit the capability.', { errors });
      }
    }
    if (facts.openTasks >= this.config.hitlMaxPendingPerAgent) {
      const detail = `Agent ${toAgentId} has ${facts.openTasks} open tasks already.`;
      throw new Problem('TOO_MANY_PENDING', detail, { headers: { 'Retry-After': '60' } });
    }
    return facts.now;
  }

  private give(tx: Tx, task: NewTask, input: JsonObject): void {
    const { organizationId, id, toAgentId, parentId, ancestors, capability, description, fromAgentId, chain, initiator, decisionId } = task;
    const head = agentChain(organizationId, toAgentId);
    this.tasks.insert(tx, task);
    countOpenTasks(tx, head, 1);
    tx.record(head, {
      type: 'task.delegated',
      metadata: {
        taskId: id, capability, input, chain,
        ...(parentId === null ? {} : { parentId, ancestors }), ...(initiator === null ? {} : { initiatorId: initiator }),
        ...(description === null ? {} : { description }),
        ...(fromAgentId === null ? {} : { fromAgentId }), ...(decisionId === null ? {} : { decisionId }),
      },
    });
  }
}
