import { Injectable } from '@nestjs/common';
import { type AuditEvent } from '../../domain/audit/catalogue/audit-events.js';
import { agentChain } from '../../domain/audit/entry/chain.js';
import type { RiskLevel } from '../../domain/gate/vocabulary.js';
import type { Caller } from '../../platform/auth/access/principal.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../platform/http/reply/problem.js';
import type { Reply } from '../../platform/http/reply/replies.js';
import { GrantStore } from '../capabilities/grant.store.js';
import { AgentAffiliation } from './agent-affiliation.js';
import type { AgentEntity } from './agent.entity.js';
import { AgentStore } from './agent.store.js';
import type { UpdateAgentDto } from './agents.dto.js';
import { type AgentEnvelope, presentAgent } from './agents.presenter.js';
import { raisedEpoch } from './tokens/issue-token.service.js';

type Change = { next: Partial<AgentEntity>; event: AuditEvent };
type Decide = (tx: Tx, agent: AgentEntity) => Promise<Change>;

const CLEARABLE = ['description', 'ownerId', 'teamId'] as const;

/** Changes of one agent, each under the lock of its chain and recorded there. */
@Injectable()
export class ChangeAgentService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly agents: AgentStore,
    private readonly ties: AgentAffiliation,
    private readonly grants: GrantStore,
  ) {}

  update(agentId: string, wanted: UpdateAgentDto, caller: Caller): Promise<Reply<AgentEnvelope>> {
    const { name, description, tags, metadata, ownerId, teamId } = wanted;
    const set = {
      ...(name === undefined ? {} : { name }),
      ...(description === undefined || description === null ? {} : { description }),
      ...(tags === undefined ? {} : { tags }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(ownerId === undefined || ownerId === null ? {} : { ownerId }),
      ...(teamId === undefined || teamId === null ? {} : { teamId }),
    };
    const cleared = CLEARABLE.filter((member) => wanted[member] === null);
    const emptied: Partial<AgentEntity> = Object.fromEntries(cleared.map((member) => [member, null]));
    return this.change(agentId, caller, async (tx, agent) => {
      await this.ties.assertWithin(tx, agent.organizationId, set, caller, agent.teamId);
      return {
        next: { ...set, ...emptied },
        event: { type: 'agent.updated', metadata: { ...set, ...(cleared.length === 0 ? {} : { cleared }) } },
      };
    });
  }

  setRiskLevel(agentId: string, riskLevel: RiskLevel, caller: Caller): Promise<Reply<AgentEnvelope>> {
    return this.change(agentId, caller, async () => ({
      next: { riskLevel },
      event: { type: 'agent.updated', metadata: { riskLevel } },
    }));
  }

  deactivate(agentId: string, reason: string | undefined, caller: Caller): Promise<Reply<AgentEnvelope>> {
    return this.change(agentId, caller, async (_, agent) => {
      if (agent.status === 'deactivated') throw new Problem('CONFLICT', 'The agent is deactivated already.');
      return { next: { status: 'deactivated' }, event: { type: 'agent.deactivated', metadata: reason === undefined ? {} : { reason } } };
    });
  }

  /** Back in service. Tokens from before stay dead: somebody vouches for the agent anew. */
  activate(agentId: string, caller: Caller): Promise<Reply<AgentEnvelope>> {
    return this.change(agentId, caller, async (tx, agent) => {
      if (agent.status === 'active') throw new Problem('CONFLICT', 'The agent is active already.');
      const epoch = await raisedEpoch(tx, agent.epoch);
      return { next: { status: 'active', epoch }, event: { type: 'agent.activated', metadata: { epoch } } };
    });
  }

  private async change(agentId: string, caller: Caller, decide: Decide): Promise<Reply<AgentEnvelope>> {
    const ref = await this.agents.findRef(caller.scope, agentId);
    const chain = agentChain(ref.organizationId, ref.id);
    return this.work.run({ chains: [chain] }, async (tx) => {
      const agent = await this.agents.read(tx, ref);
      const { next, event } = await decide(tx, agent);
      const changed = { ...agent, ...next, updatedAt: await tx.now() };
      await this.agents.update(tx, changed);
      tx.record(chain, event);
      const capabilities = await this.grants.namesOf(tx, ref.organizationId, ref.id, changed.teamId);
      return tx.reply(200, { agent: presentAgent({ ...changed, capabilities }) });
    });
  }
}
