import { Inject, Injectable } from '@nestjs/common';
import { agentChain } from '../../../domain/audit/entry/chain.js';
import type { AgentPrincipal, Caller } from '../../../platform/auth/access/principal.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import type { Reply } from '../../../platform/http/reply/replies.js';
import { GrantStore } from '../../capabilities/grant.store.js';
import type { AgentEntity } from '../agent.entity.js';
import { AgentStore } from '../agent.store.js';
import { AgentTokens, type Vouching } from './agent-tokens.js';

export interface TokenReplyBody {
  token: string;
  expiresAt: string;
}

const LATE = 'This token has been refreshed once after its expiry. Ask an admin for a new one: POST /api/v1/agents/:id/token.';

/** Issues, refreshes and ends tokens of agents. A token names the capabilities of its moment; grants decide all the same. */
@Injectable()
export class IssueTokenService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly agents: AgentStore,
    private readonly grants: GrantStore,
    private readonly tokens: AgentTokens,
    @Inject(CONFIG) private readonly config: CompleteConfig,
  ) {}

  /** A new token with the present grants, for which the caller vouches. */
  async issue(agentId: string, caller: Caller): Promise<Reply<TokenReplyBody>> {
    const ref = await this.agents.findRef(caller.scope, agentId);
    return this.work.run({ chains: [agentChain(ref.organizationId, ref.id)], leavesFacts: true }, async (tx) => {
      const agent = await this.agents.read(tx, ref);
      if (agent.status !== 'active') throw new Problem('AGENT_INACTIVE', `The agent is ${agent.status}.`);
      const { issued } = await this.issueWithin(tx, agent, 'issued', caller.actorId);
      const reply = { token: issued.token, expiresAt: issued.expiresAt.toISOString() };
      return tx.reply(200, reply, { ...reply, token: null });
    });
  }

  /** @param vouching who vouches for the token, and since when: the actor, from this moment, unless somebody vouched before */
  async issueWithin(tx: Tx, agent: AgentEntity, occasion: Occasion, actorId: string, vouching: Vouching = vouchedNow(actorId)) {
    const capabilities = await this.grants.namesOf(tx, agent.organizationId, agent.id, agent.teamId);
    const issued = this.tokens.issue(agent, capabilities, vouching);
    tx.record(
      agentChain(agent.organizationId, agent.id),
      {
        type: 'auth.agent_jwt_issued',
        metadata: { epoch: agent.epoch, expiresAt: issued.expiresAt.toISOString(), jti: issued.tokenId, occasion, capabilities },
      },
      { actorId },
    );
    return { issued, capabilities };
  }

  /**
   * Exchanges a token for a fresh one. Who vouched, and when, is carried on; a chain of refreshes that is older than
   * AGENT_SESSION_MAX ends.
   *
   * @param acknowledged the capabilities that the agent was answered it now has
   */
  async refresh(agentId: string, acknowledged: string[] | undefined, caller: Caller): Promise<Reply<TokenReplyBody>> {
    const principal = caller.principal as AgentPrincipal;
    const ref = await this.agents.findRef(caller.scope, agentId);
    return this.work.run({ chains: [agentChain(ref.organizationId, ref.id)], leavesFacts: true }, async (tx) => {
      const agent = await this.agents.read(tx, ref);
      const now = (await tx.now()).getTime() / 1000;
      if (now - principal.authTime > this.config.agentSessionMax) {
        throw new Problem('UNAUTHENTICATED', 'Nobody has vouched for this agent for too long. Ask an admin for a new token.');
      }
      if (now >= principal.expiresAt) await this.spendLate(tx, principal);
      const current = await this.grants.namesOf(tx, ref.organizationId, ref.id, agent.teamId);
      const changed = !sameSet(current, principal.capabilities);
      if (changed && !sameSet(current, acknowledged ?? principal.capabilities)) {
        throw new Problem('CAPABILITIES_CHANGED', 'Repeat with {"capabilities": <currentCapabilities>} to get a token that holds them.', {
          members: { currentCapabilities: current },
        });
      }
      const issued = this.tokens.issue(agent, current, { at: principal.authTime, by: principal.vouchedBy ?? agent.registeredBy });
      tx.record(agentChain(ref.organizationId, ref.id), {
        type: 'agent.token_refreshed',
        metadata: {
          epoch: agent.epoch,
          expiresAt: issued.expiresAt.toISOString(),
          jti: issued.tokenId,
          capabilities: current,
          ...(changed ? { acknowledged: true } : {}),
        },
      });
      const reply = { token: issued.token, expiresAt: issued.expiresAt.toISOString() };
      return tx.reply(200, reply, { ...reply, token: null });
    });
  }

  /** Raises the epoch: every token of the agent is dead at once, on every replica. */
  async revokeAll(agentId: string, caller: Caller): Promise<Reply<undefined>> {
    const ref = await this.agents.findRef(caller.scope, agentId);
    return this.work.run({ chains: [agentChain(ref.organizationId, ref.id)] }, async (tx) => {
      const agent = await this.agents.read(tx, ref);
      const epoch = await raisedEpoch(tx, agent.epoch);
      await this.agents.update(tx, { ...agent, epoch });
      tx.record(agentChain(ref.organizationId, ref.id), { type: 'agent.tokens_revoked', metadata: { epoch } });
      return tx.reply(204, undefined);
    });
  }

  private async spendLate(tx: Tx, principal: AgentPrincipal): Promise<void> {
    const { tokenId, agentId, organizationId, expiresAt } = principal;
    const until = new Date((expiresAt + this.config.agentRefreshWindow) * 1000);
    const first = tokenId !== undefined && (await this.agents.spendToken(tx, { organizationId, id: agentId }, tokenId, until));
    if (!first) throw new Problem('UNAUTHENTICATED', LATE);
  }
}

type Occasion = 'registration' | 'issued' | 'activation';

function vouchedNow(by: string): Vouching {
  return { at: Math.floor(Date.now() / 1000), by };
}

/** By time as well as by one, so that a rolled-back database never hands out an epoch that was used before. */
export async function raisedEpoch(tx: Tx, epoch: number): Promise<number> {
  return Math.max(epoch + 1, Math.floor((await tx.now()).getTime() / 1000));
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  const left = new Set(a);
  const right = new Set(b);
  return left.size === right.size && [...left].every((item) => right.has(item));
}
