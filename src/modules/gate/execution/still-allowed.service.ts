import { Injectable } from '@nestjs/common';
import { decide } from '../../../domain/gate/decide.js';
import type { JsonObject } from '../../../domain/json.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { type Facts, FactsQuery } from '../../authority/facts.query.js';
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
   * Under the head of the agent, within its organization's barrier. What people approved is checked as at its beginning.
   *
   * @returns why the action may not be done any more, as a code; undefined where it may
   * @throws Problem UNAVAILABLE where the reason passes by itself
   */
  async hindrance(tx: Tx, execution: ExecutionEntity): Promise<string | undefined> {
    const { organizationId, agentId, capability, id: executionId, hitlRequestId } = execution;
    if (hitlRequestId !== null) {
      return this.beginning.hindrance(await this.beginning.read(tx, { organizationId, agentId, executionId, hitlRequestId, capability }));
    }
    return hindranceAtTheGate(execution, await this.facts.readWithin(tx, { organizationId, agentId, capability }, executionId));
  }
}

/** The token of the call is no part of it: it let the execution begin, and may have ended since. */
function hindranceAtTheGate(execution: ExecutionEntity, facts: Facts): string | undefined {
  if (!facts.agent) return 'agent_inactive';
  if (facts.definition?.digest !== execution.definition) return 'definition_changed';
  const decision = decide({
    agent: facts.agent,
    stops: facts.stops,
    definition: facts.definition,
    ...(facts.unanchored ? { unanchored: true } : {}),
    ...(facts.usage ? { used: facts.usage.used } : {}),
    ...(facts.grant ? { grant: facts.grant } : {}),
    call: {
      capability: execution.capability,
      input: JSON.parse(execution.input) as JsonObject,
      now: facts.now,
      tokenCapabilities: 'any',
      ...(execution.context === null ? {} : { context: JSON.parse(execution.context) as JsonObject }),
      ...(execution.action === null ? {} : { action: execution.action }),
    },
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
