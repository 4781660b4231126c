import { Injectable } from '@nestjs/common';
import { agentChain } from '../../../domain/audit/entry/chain.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import type { Reply } from '../../../platform/http/reply/replies.js';
import { AgentStore } from '../../agents/agent.store.js';
import { GrantCapabilityService } from '../../agents/grants/grant-capability.service.js';
import { raisedEpoch } from '../../agents/tokens/issue-token.service.js';
import { EndWorkService } from './end-work.service.js';

/**
 * Takes an agent out of service for good: its tokens are dead, nobody is asked for it any more, and what was approved and has
 * not begun does not begin. Its chain, its requests and its executions stay.
 */
@Injectable()
export class RemoveAgentService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly agents: AgentStore,
    private readonly granting: GrantCapabilityService,
    private readonly ending: EndWorkService,
  ) {}

  async remove(agentId: string, caller: Caller): Promise<Reply<undefined>> {
    const ref = await this.agents.findRef(caller.scope, agentId);
    const { organizationId, id } = ref;
    const ended: string[] = [];
    const reply = await this.work.run({ chains: [agentChain(organizationId, id)] }, async (tx) => {
      ended.length = 0;
      const agent = await this.agents.read(tx, ref);
      await this.agents.remove(tx, { ...agent, epoch: await raisedEpoch(tx, agent.epoch), updatedAt: await tx.now() });
      await this.granting.revokeAllWithin(tx, organizationId, id, caller.actorId);
      ended.push(...(await this.ending.endAll(tx, organizationId, id, 'agent_removed')));
      tx.record(agentChain(organizationId, id), { type: 'agent.removed', metadata: {} });
      return tx.reply(204, undefined);
    });
    this.ending.announce(ended);
    return reply;
  }
}
