import { Injectable } from '@nestjs/common';
import { agentChain } from '../../../domain/audit/entry/chain.js';
import { newId } from '../../../domain/ids.js';
import { AuthJournal } from '../../../platform/auth/failures/auth-journal.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import type { Reply } from '../../../platform/http/reply/replies.js';
import { requestContext } from '../../../platform/http/request/request-context.js';
import type { AgentEntity } from '../agent.entity.js';
import { AgentStore } from '../agent.store.js';
import { presentAgent, type RegistrationReply } from '../agents.presenter.js';
import { IssueTokenService } from './issue-token.service.js';
import { makeSetupToken, type SeenSetupToken, SetupTokenStore } from './setup-token.store.js';

const LIFETIME_MS = 24 * 3_600_000;

/** Why a setup token is not taken. */
type SetupTokenRefusal = 'unknown setup token' | 'the setup token was used' | 'the setup token has expired' | 'the setup token was revoked';

export interface SetupTokenBody {
  setupToken: string;
  expiresAt: string;
}

/** Brings a machine into an agent's service: an admin issues a token that is good once, the node exchanges it for the agent's. */
@Injectable()
export class SetupNodeService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly agents: AgentStore,
    private readonly setupTokens: SetupTokenStore,
    private readonly tokens: IssueTokenService,
    private readonly journal: AuthJournal,
  ) {}

  async issue(agentId: string, caller: Caller): Promise<Reply<SetupTokenBody>> {
    const ref = await this.agents.findRef(caller.scope, agentId);
    const chain = agentChain(ref.organizationId, ref.id);
    return this.work.run({ chains: [chain], leavesFacts: true }, async (tx) => {
      const agent = await this.agents.read(tx, ref);
      if (agent.status !== 'active') throw inactive(agent);
      const text = makeSetupToken();
      const issuedAt = await tx.now();
      const token = {
        organizationId: ref.organizationId, id: newId('stk'), agentId: ref.id, epoch: agent.epoch, issuedBy: caller.actorId, issuedAt,
        expiresAt: new Date(issuedAt.getTime() + LIFETIME_MS), usedAt: null,
      };
      await this.setupTokens.insert(tx, text, token);
      const expiresAt = token.expiresAt.toISOString();
      tx.record(chain, { type: 'agent.setup_token_issued', metadata: { setupTokenId: token.id, expiresAt } });
      return tx.reply(201, { setupToken: text, expiresAt }, { setupToken: null, expiresAt });
    });
  }

  /**
   * The setup token is the credential, so one that is refused counts as a failed authentication, like one that the guard refuses.
   *
   * @throws Problem UNAUTHENTICATED, or AGENT_INACTIVE for a good token of an agent that is out of service
   */
  async activate(text: string, nodeId: string): Promise<Reply<RegistrationReply>> {
    const found = await this.setupTokens.find(text);
    const refusal = refusalOf(found);
    // A token that was used or has expired stays so, and is refused without waiting for a lock.
    const outcome = refusal ?? (await this.redeem(found!, nodeId));
    if (typeof outcome !== 'string') return outcome;
    await this.journal.failedFrom(requestContext.getStore()?.address, outcome, 'POST');
    throw new Problem('UNAUTHENTICATED', `This credential does not hold: ${outcome}.`);
  }

  private redeem(found: SeenSetupToken, nodeId: string): Promise<Reply<RegistrationReply> | SetupTokenRefusal> {
    const chain = agentChain(found.organizationId, found.agentId);
    // A closed segment has no setup tokens any more.
    return this.work.run({ chains: [chain], leavesFacts: true, evenIfClosed: true }, async (tx) => {
      const token = await this.setupTokens.read(tx, found);
      const refusal = refusalOf(token);
      if (token === undefined || refusal !== undefined) return refusal ?? 'unknown setup token';
      const agent = await this.agents.readAny(tx, { organizationId: found.organizationId, id: found.agentId });
      if (agent.status !== 'active') throw inactive(agent);
      if (agent.epoch !== token.epoch) return 'the setup token was revoked';
      if (!(await this.setupTokens.spend(tx, token, nodeId))) return 'the setup token has expired';
      tx.record(chain, { type: 'agent.node_activated', metadata: { nodeId, setupTokenId: token.id } }, { actorId: agent.id });
      const vouching = { at: Math.floor(token.issuedAt.getTime() / 1000), by: token.issuedBy };
      const { issued, capabilities } = await this.tokens.issueWithin(tx, agent, 'activation', agent.id, vouching);
      return tx.reply(200, {
        agent: presentAgent({ ...agent, capabilities }), token: issued.token, expiresAt: issued.expiresAt.toISOString(),
      });
    });
  }
}

function refusalOf(token: SeenSetupToken | undefined): SetupTokenRefusal | undefined {
  if (token === undefined) return 'unknown setup token';
  if (token.usedAt !== null) return 'the setup token was used';
  return token.isOver ? 'the setup token has expired' : undefined;
}

function inactive(agent: AgentEntity): Problem {
  return new Problem('AGENT_INACTIVE', `The agent is ${agent.status}.`);
}
