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
import { type AgentRef, AgentStore } from '../agent.store.js';
import { AgentKeyStore } from '../keys/agent-key.store.js';
import { AgentTokens, type IssuedToken, type Vouching } from './agent-tokens.js';

export interface TokenReplyBody {
  token: string;
  expiresAt: string;
}

const LATE = 'This token has been refreshed once after its expiry. Ask an admin for a new one: POST /api/v1/agents/:id/token.';

/** Issues, exchanges, refreshes and ends tokens of agents. A token names the capabilities of its moment; grants decide all the same. */
@Injectable()
export class IssueTokenService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly agents: AgentStore,
    private readonly grants: GrantStore,
    private readonly tokens: AgentTokens,
    private readonly keys: AgentKeyStore,
    @Inject(CONFIG) private readonly config: CompleteConfig,
  ) {}

  /** A new token with the present grants, for which the caller vouches. */
  async issue(agentId: string, caller: Caller): Promise<Reply<TokenReplyBody>> {
    const ref = await this.agents.findRef(caller.scope, agentId);
    return this.work.run({ chains: [agentChain(ref.organizationId, ref.id)], leavesFacts: true }, async (tx) => {
      const agent = await this.agents.read(tx, ref);
      if (agent.status !== 'active') throw new Problem('AGENT_INACTIVE', `The agent is ${agent.status}.`);
      const { issued } = await this.issueWithin(tx, agent, 'issued', caller.actorId);
      return shownOnce(tx, issued);
    });
  }

  /**
   * A token for the agent key that the caller came by. An exchange counts as vouched at that moment, by the key's maker: whoever leaves
   * a key in place vouches for the agent for as long. A chain of refreshes behind it has AGENT_SESSION_MAX from then on, and no longer
   * than the key, whose id the tokens carry.
   */
  async exchange(caller: Caller): Promise<Reply<TokenReplyBody>> {
    const { organizationId, agentId: id, keyId, vouchedBy } = caller.principal as AgentPrincipal;
    const ref = { organizationId, id };
    return this.work.run({ chains: [agentChain(organizationId, id)], leavesFacts: true }, async (tx) => {
      const agent = await this.agents.read(tx, ref);
      const vouching = { ...vouchedNow(vouchedBy!), ...(await this.keyOf(tx, ref, keyId)) };
      const { issued } = await this.issueWithin(tx, agent, 'exchange', id, vouching);
      return shownOnce(tx, issued);
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
        metadata: {
          epoch: agent.epoch, expiresAt: issued.expiresAt.toISOString(), jti: issued.tokenId, occasion, capabilities,
          ...(vouching.key === undefined ? {} : { keyId: vouching.key.id }),
        },
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
    const principal = caller.principal as AgentPrincipal & { readonly capabilities: readonly string[] };
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
      const vouching = { at: principal.authTime, by: principal.vouchedBy ?? agent.registeredBy };
      const issued = this.tokens.issue(agent, current, { ...vouching, ...(await this.keyOf(tx, ref, principal.keyId)) });
      tx.record(agentChain(ref.organizationId, ref.id), {
        type: 'agent.token_refreshed',
        metadata: {
          epoch: agent.epoch,
          expiresAt: issued.expiresAt.toISOString(),
          jti: issued.tokenId,
          capabilities: current,
          ...(changed ? { acknowledged: true } : {}),
          ...(principal.keyId === undefined ? {} : { keyId: principal.keyId }),
        },
      });
      return shownOnce(tx, issued);
    });
  }

  /** Raises the epoch: every token and key of the agent is dead at once, on every replica. */
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

  private async keyOf(tx: Tx, ref: AgentRef, keyId: string | undefined): Promise<Pick<Vouching, 'key'>> {
    return keyId === undefined ? {} : { key: { id: keyId, expiresAt: await this.keys.expiryOf(tx, ref, keyId) } };
  }

  private async spendLate(tx: Tx, principal: AgentPrincipal): Promise<void> {
    const { tokenId, agentId, organizationId, expiresAt } = principal;
    const until = new Date((expiresAt + this.config.agentRefreshWindow) * 1000);
    const first = tokenId !== undefined && (await this.agents.spendToken(tx, { organizationId, id: agentId }, tokenId, until));
    if (!first) throw new Problem('UNAUTHENTICATED', LATE);
  }
}

type Occasion = 'registration' | 'issued' | 'activation' | 'exchange';

function shownOnce(tx: Tx, { token, expiresAt }: IssuedToken): Reply<TokenReplyBody> {
  const reply = { token, expiresAt: expiresAt.toISOString() };
  return tx.reply(200, reply, { ...reply, token: null });
}

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
