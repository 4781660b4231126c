import { Injectable } from '@nestjs/common';
import { agentChain } from '../../domain/audit/entry/chain.js';
import { newId } from '../../domain/ids.js';
import type { Caller } from '../../platform/auth/access/principal.js';
import { UnitOfWork } from '../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../platform/http/reply/problem.js';
import type { Reply } from '../../platform/http/reply/replies.js';
import { OrganizationsQuery } from '../organizations/organizations.query.js';
import { AgentAffiliation } from './agent-affiliation.js';
import type { AgentEntity } from './agent.entity.js';
import { AgentStore } from './agent.store.js';
import type { RegisterAgentDto } from './agents.dto.js';
import { type RegistrationReply, presentAgent } from './agents.presenter.js';
import type { WarningReply } from './grants/grant-warnings.js';
import { GrantCapabilityService } from './grants/grant-capability.service.js';
import { IssueTokenService } from './tokens/issue-token.service.js';

/** Registers an agent: its row, its chain, its first grants and its first token, or nothing of it. */
@Injectable()
export class RegisterAgentService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly organizations: OrganizationsQuery,
    private readonly agents: AgentStore,
    private readonly ties: AgentAffiliation,
    private readonly grants: GrantCapabilityService,
    private readonly tokens: IssueTokenService,
  ) {}

  async register(wanted: RegisterAgentDto, caller: Caller): Promise<Reply<RegistrationReply>> {
    const organizationId = await this.organizations.choose(caller.scope, wanted.organizationId);
    const names = (wanted.grants ?? []).map((grant) => grant.capability);
    const repeated = names.findIndex((name, i) => names.indexOf(name) < i);
    if (repeated >= 0) {
      throw new Problem('VALIDATION_FAILED', 'Each capability can be granted once.', {
        errors: [{ pointer: `/grants/${repeated}/capability`, message: 'is granted twice in this list' }],
      });
    }
    const id = newId('agt');
    const chain = agentChain(organizationId, id);
    return this.work.run({ chains: [chain], creates: [chain] }, async (tx) => {
      await this.ties.assertWithin(tx, organizationId, wanted, caller);
      const now = await tx.now();
      const agent: AgentEntity = {
        organizationId,
        id,
        name: wanted.name,
        description: wanted.description ?? null,
        riskLevel: wanted.riskLevel ?? 'limited',
        status: 'active',
        tags: wanted.tags ?? [],
        metadata: wanted.metadata ?? {},
        epoch: 0,
        ownerId: wanted.ownerId ?? null,
        teamId: wanted.teamId ?? null,
        registeredBy: caller.actorId,
        nodeLastSeen: null,
        createdAt: now,
        updatedAt: now,
      };
      await this.agents.insert(tx, agent);
      tx.record(chain, {
        type: 'agent.registered',
        metadata: {
          name: agent.name,
          riskLevel: agent.riskLevel,
          ...(agent.description === null ? {} : { description: agent.description }),
          ...(agent.tags.length === 0 ? {} : { tags: agent.tags }),
          ...(agent.ownerId === null ? {} : { ownerId: agent.ownerId }),
          ...(agent.teamId === null ? {} : { teamId: agent.teamId }),
          ...(wanted.metadata === undefined ? {} : { metadata: wanted.metadata }),
        },
      });
      const warnings: WarningReply[] = [];
      for (const [i, grant] of (wanted.grants ?? []).entries()) {
        const { reply } = await this.grants.grantWithin(tx, agent, grant, caller.actorId, `/grants/${i}`);
        warnings.push(...(reply.warnings ?? []));
      }
      const { issued, capabilities } = await this.tokens.issueWithin(tx, agent, 'registration', caller.actorId);
      const reply = {
        agent: presentAgent({ ...agent, capabilities }),
        token: issued.token,
        expiresAt: issued.expiresAt.toISOString(),
        ...(warnings.length > 0 ? { warnings } : {}),
      };
      return tx.reply(201, reply, { ...reply, token: null });
    });
  }
}
