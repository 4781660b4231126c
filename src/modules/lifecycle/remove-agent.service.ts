import { Injectable } from '@nestjs/common';
import { agentChain } from '../../domain/audit/chain.js';
import type { Caller } from '../../platform/auth/principal.js';
import { UnitOfWork } from '../../platform/database/unit-of-work.js';
import type { Reply } from '../../platform/http/replies.js';
import { Waiters } from '../../platform/wake/waiters.js';
import { AgentStore } from '../agents/agent.store.js';
import { GrantCapabilityService } from '../agents/grant-capability.service.js';
import { HitlRequestStore } from '../hitl/hitl-request.store.js';
import { MoveRequestService } from '../hitl/move-request.service.js';

/** Takes an agent out of service for good. Its chain, its requests and its executions stay. */
@Injectable()
export class RemoveAgentService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly agents: AgentStore,
    private readonly granting: GrantCapabilityService,
    private readonly requests: HitlRequestStore,
    private readonly moving: MoveRequestService,
    private readonly waiters: Waiters,
  ) {}

  async remove(agentId: string, caller: Caller): Promise<Reply<undefined>> {
    const place = await this.agents.place(caller.scope, agentId);
    const { organizationId, id } = place;
    const cancelled: string[] = [];
    const reply = await this.work.run({ chains: [agentChain(organizationId, id)] }, async (tx) => {
      cancelled.length = 0;
      const agent = await this.agents.read(tx, place);
      await this.agents.update(tx, { ...agent, status: 'removed', updatedAt: await tx.now() });
      await this.granting.revokeAllWithin(tx, organizationId, id, caller.actorId);
      for (const open of await this.requests.openOf(tx, organizationId, id)) {
        const request = await this.requests.read(tx, open);
        await this.moving.move(tx, request, { kind: 'cancel', by: 'system' }, 'system', 'agent_removed');
        cancelled.push(open.id);
      }
      tx.record(agentChain(organizationId, id), { type: 'agent.removed', metadata: {} });
      return tx.reply(204, undefined);
    });
    for (const requestId of cancelled) this.waiters.wake(requestId);
    return reply;
  }
}
