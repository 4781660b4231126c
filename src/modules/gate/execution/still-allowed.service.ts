import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../../domain/json.js';
import { AnchorFreshness } from '../../../platform/audit/anchor-freshness.js';
import type { AgentPrincipal } from '../../../platform/auth/access/principal.js';
import { Batcher } from '../../../platform/database/batching/batcher.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { whyCredentialDied } from '../../agents/tokens/credential-life.js';
import { decideByFacts } from '../../authority/decide-by-facts.js';
import type { Facts, FactsWanted } from '../../authority/facts.js';
import { FactsQuery } from '../../authority/facts.query.js';
import { RecentFacts } from '../../authority/recent-facts.js';
import type { ExecutionEntity } from '../../executions/execution.entity.js';
import { BeginApprovedService } from './begin-approved.service.js';

/** Asks the gate once more, of executions that have begun and whose action may not have. */
@Injectable()
export class StillAllowedService {
  private readonly recent = new RecentFacts();
  private readonly reads: Batcher<FactsWanted, Facts>;

  constructor(
    private readonly beginning: BeginApprovedService,
    private readonly facts: FactsQuery,
    private readonly freshness: AnchorFreshness,
  ) {
    this.reads = new Batcher({
      lanes: 1, largest: 128, longest: Infinity, keyOf: ({ agentId }) => agentId,
      process: async (wanted) => (await facts.read(wanted)).map((answer) => ({ kind: 'answer', answer })),
    });
  }

  /**
   * The same question without locks, by facts that may be of a moment ago: an answer counts only where their revisions are still the
   * present ones under the locks. The credential is compared with the same facts.
   *
   * @returns the facts where nothing hinders; undefined where something does, or where it has to be asked in a unit of work: of what people
   * approved, of a task's call, and of what counts against limits
   */
  async byRevision(execution: ExecutionEntity, node: AgentPrincipal): Promise<Facts | undefined> {
    if (execution.hitlRequestId !== null || execution.taskId !== null) return undefined;
    const { organizationId, agentId, capability } = execution;
    const wanted = { organizationId, agentId, capability, ...(node.keyId === undefined ? {} : { agentKeyId: node.keyId }) };
    let facts = this.recent.find(wanted);
    if (!facts) {
      facts = await this.reads.submit(wanted);
      this.recent.keep(wanted, facts);
    }
    const { unanchored: _, ...read } = facts;
    const present: Facts = this.freshness.isStale ? { ...read, unanchored: true } : read;
    const isFree = present.usage === undefined && holds(node, present) && hindranceAtTheGate(execution, present) === undefined;
    if (!isFree) this.forget(execution, node);
    return isFree ? present : undefined;
  }

  /** Facts that turned out not to be the present ones. */
  forget({ organizationId, agentId, capability }: ExecutionEntity, { keyId }: AgentPrincipal): void {
    this.recent.forget({ organizationId, agentId, capability, ...(keyId === undefined ? {} : { agentKeyId: keyId }) });
  }

  /**
   * Under the heads of the agent and of the others of its task's chain, within its organization's barrier. What people approved is checked
   * as at its beginning.
   *
   * @returns why the action may not be done any more, as a code; undefined where it may
   * @throws Problem UNAVAILABLE where the reason passes by itself
   */
  async hindrance(tx: Tx, execution: ExecutionEntity): Promise<string | undefined> {
    const { organizationId, agentId, capability, id: executionId, hitlRequestId, taskId, taskChain } = execution;
    const chain = taskChain ?? [];
    if (hitlRequestId !== null) {
      const task = taskId === null ? {} : { taskId, taskChain: chain };
      const approved = await this.beginning.read(tx, { organizationId, agentId, executionId, hitlRequestId, capability, ...task });
      return this.beginning.hindrance(approved);
    }
    const task = taskId === null ? {} : { task: { id: taskId, chain } };
    return hindranceAtTheGate(execution, await this.facts.readWithin(tx, { organizationId, agentId, capability, ...task }, executionId));
  }
}

function holds(node: AgentPrincipal, { agent, hasKey, tenantId, now }: Facts): boolean {
  return agent?.status === 'active' && hasKey !== false && now.getTime() < node.expiresAt * 1_000
    && whyCredentialDied(node, agent.epoch, tenantId) === undefined;
}

/** The token of the call is no part of it: it let the execution begin, and may have ended since. */
function hindranceAtTheGate(execution: ExecutionEntity, facts: Facts): string | undefined {
  if (!facts.agent) return 'agent_inactive';
  if (facts.definition?.digest !== execution.definition) return 'definition_changed';
  const decision = decideByFacts(facts, {
    capability: execution.capability,
    input: JSON.parse(execution.input) as JsonObject,
    now: facts.now,
    tokenCapabilities: 'any',
    ...(execution.context === null ? {} : { context: JSON.parse(execution.context) as JsonObject }),
    ...(execution.action === null ? {} : { action: execution.action }),
  });
  switch (decision.kind) {
    case 'refuse':
      if (decision.code === 'UNAVAILABLE') throw new Problem('UNAVAILABLE', decision.detail);
      return decision.code.toLowerCase();
    case 'invalid':
      return 'invalid_input';
    case 'block':
      return 'blocked';
    case 'ask':
      return 'approval_needed';
    case 'run':
      return undefined;
  }
}
