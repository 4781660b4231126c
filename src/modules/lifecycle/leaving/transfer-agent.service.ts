import { Injectable } from '@nestjs/common';
import { agentChain } from '../../../domain/audit/entry/chain.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import type { Reply } from '../../../platform/http/reply/replies.js';
import { type AgentRef, AgentStore } from '../../agents/agent.store.js';
import { type AgentEnvelope, presentAgent } from '../../agents/agents.presenter.js';
import { GrantCapabilityService } from '../../agents/grants/grant-capability.service.js';
import { raisedEpoch } from '../../agents/tokens/issue-token.service.js';
import { OrganizationsQuery } from '../../organizations/organizations.query.js';
import { EndWorkService } from './end-work.service.js';
import type { TransferDto } from '../lifecycle.dto.js';
import { TransferBlockersQuery } from './transfer-blockers.query.js';

/**
 * Moves an agent to another organization. Its description and its chain move; its grants are revoked and its open requests cancelled.
 * From the commit on the agent has no rights anywhere, until the new organization grants it some.
 */
@Injectable()
export class TransferAgentService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly organizations: OrganizationsQuery,
    private readonly agents: AgentStore,
    private readonly blockers: TransferBlockersQuery,
    private readonly granting: GrantCapabilityService,
    private readonly ending: EndWorkService,
  ) {}

  async transfer(agentId: string, { organizationId: named, reason }: TransferDto, caller: Caller): Promise<Reply<AgentEnvelope>> {
    const ref = await this.agents.findRef(caller.scope, agentId);
    const target = await this.organizations.choose(caller.scope, named);
    const { organizationId, id } = ref;
    const chain = agentChain(organizationId, id);
    const ended: string[] = [];
    // Stops are shared facts of both organizations, so a stop and this transfer wait for each other.
    const reply = await this.work.run({ chains: [chain], judges: [organizationId, target] }, async (tx) => {
      ended.length = 0;
      const agent = await this.agents.read(tx, ref);
      await this.assertFree(tx, ref, target);
      await this.granting.revokeAllWithin(tx, organizationId, id, caller.actorId, 'transferred');
      ended.push(...(await this.ending.endAll(tx, organizationId, id, 'agent_transferred')));
      const moved = {
        ...agent,
        organizationId: target,
        ownerId: null,
        teamId: null,
        // The agent's node has to be set up anew.
        nodeLastSeen: null,
        epoch: await raisedEpoch(tx, agent.epoch),
        updatedAt: await tx.now(),
      };
      await this.agents.move(tx, ref, moved);
      await tx.moveChain(chain, agentChain(target, id), reason);
      return tx.reply(200, { agent: presentAgent({ ...moved, capabilities: [] }) });
    });
    this.ending.announce(ended);
    return reply;
  }

  /** @throws Problem CONFLICT */
  private async assertFree(tx: Tx, { organizationId, id }: AgentRef, target: string): Promise<void> {
    if (organizationId === target) throw new Problem('CONFLICT', 'The agent belongs to this organization already.');
    if (await this.blockers.isStopped(tx, id, [organizationId, target])) {
      throw new Problem('CONFLICT', 'A stop is in force for the agent, here or there: it stays until that is lifted.');
    }
    if (await this.blockers.isRunning(tx, organizationId, id)) {
      throw new Problem('CONFLICT', 'An action of the agent is running: transfer it when that has ended.');
    }
  }
}
