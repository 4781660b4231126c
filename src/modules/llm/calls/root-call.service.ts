import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../../../domain/audit/catalogue/audit-events.js';
import { agentChain } from '../../../domain/audit/entry/chain.js';
import { recordsNothing } from '../../../platform/auth/access/call-context.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { type AgentRef, AgentStore } from '../../agents/agent.store.js';
import { Deadline } from '../../gate/runtimes/deadline.js';
import { ModelProviders } from '../providers/model-providers.js';
import { closingEvents, detectedEvents } from './llm-events.js';
import type { ModelReply, ModelRequest } from './model-request.js';
import { PerformCallService } from './perform-call.service.js';
import { piiBlocked } from './early-refusal.service.js';
import { PrepareCallService } from './prepare-call.service.js';

/** Root's own calls: scanned, and not decided by the gate. With an agent's id they are in its log, without one in none. */
@Injectable()
export class RootCallService {
  constructor(
    private readonly preparing: PrepareCallService,
    private readonly calls: PerformCallService,
    private readonly agents: AgentStore,
    private readonly work: UnitOfWork,
    private readonly providers: ModelProviders,
  ) {}

  async call(request: ModelRequest, caller: Caller): Promise<ModelReply> {
    const { forAgentId } = request;
    const agent = forAgentId === undefined ? undefined : await this.agents.findRef(caller.scope, forAgentId);
    const prepared = await this.preparing.prepare(request, agent?.organizationId);
    const { call: { model }, scan, waiting: { outgoing, facts } } = prepared;
    await this.record(agent, detectedEvents(model, scan));
    if (scan.isBlocked) throw piiBlocked(scan);
    const performed = await this.calls.perform({ ...outgoing, deadline: Deadline.in(this.providers.timeoutSeconds * 1_000) });
    await this.record(agent, closingEvents(performed, facts));
    if (performed.failure) return { kind: 'failed', performed };
    if (performed.ending !== undefined) return { kind: 'streamed', ending: performed.ending };
    return { kind: 'answered', answer: performed.answer!, scan };
  }

  private async record(agent: AgentRef | undefined, events: readonly AuditEvent[]): Promise<void> {
    if (!agent) recordsNothing();
    if (!agent || events.length === 0) return;
    const chain = agentChain(agent.organizationId, agent.id);
    await this.work.run({ chains: [chain], leavesFacts: true }, async (tx) => {
      for (const event of events) tx.record(chain, event);
    });
  }
}
