import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../../domain/json.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { decideByFacts } from '../../authority/decide-by-facts.js';
import type { Facts } from '../../authority/facts.js';
import { FactsQuery } from '../../authority/facts.query.js';
import type { ExecutionEntity } from '../../executions/execution.entity.js';
import { BeginApprovedService } from './begin-approved.service.js';

/** Asks the gate once more, of executions that have begun and whose action may not have. */
@Injectable()
export class StillAllowedService {
  constructor(
    private readonly beginning: BeginApprovedService,
    private readonly facts: FactsQuery,
  ) {}

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
