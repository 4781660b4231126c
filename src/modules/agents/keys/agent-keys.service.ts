import { Injectable } from '@nestjs/common';
import { agentChain } from '../../../domain/audit/entry/chain.js';
import { newId } from '../../../domain/ids.js';
import { assertRecentSignIn } from '../../../platform/auth/credentials/recent-sign-in.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import type { Page, PageRequest } from '../../../platform/http/fields/pagination.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { invalid } from '../../../platform/http/fields/read-members.js';
import type { Reply } from '../../../platform/http/reply/replies.js';
import { AgentStore } from '../agent.store.js';
import { type AgentKey, AgentKeyStore, hashAgentKey, makeAgentKey } from './agent-key.store.js';
import type { MakeAgentKeyDto } from './agent-keys.dto.js';
import { type NewAgentKeyReply, presentAgentKey } from './agent-keys.presenter.js';
import { AgentKeysQuery } from './agent-keys.query.js';

/** Live keys of one agent: more of them, and nobody knows any more where they all are. */
const MAX_LIVE = 50;

/** Keys of agents that cannot hold a fresh token: made, listed and deleted. Both ends of a key stand in its agent's chain. */
@Injectable()
export class AgentKeysService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly agents: AgentStore,
    private readonly keys: AgentKeyStore,
    private readonly query: AgentKeysQuery,
  ) {}

  async make(agentId: string, { name, expiresAt }: MakeAgentKeyDto, caller: Caller): Promise<Reply<NewAgentKeyReply>> {
    const ref = await this.agents.findRef(caller.scope, agentId);
    assertRecentSignIn(caller, 'an agent key');
    const chain = agentChain(ref.organizationId, ref.id);
    return this.work.run({ chains: [chain], leavesFacts: true }, async (tx) => {
      const agent = await this.agents.read(tx, ref);
      if (agent.status !== 'active') throw new Problem('AGENT_INACTIVE', `The agent is ${agent.status}.`);
      const createdAt = await tx.now();
      if (expiresAt !== undefined && expiresAt <= createdAt) throw invalid([{ pointer: '/expiresAt', message: 'must lie ahead' }]);
      await this.keys.forgetEnded(tx, agent);
      if ((await this.keys.countLive(tx, agent)) >= MAX_LIVE) {
        throw new Problem('CONFLICT', `There are ${MAX_LIVE} live keys of this agent: delete one first.`);
      }
      const secret = makeAgentKey();
      const key: AgentKey = { id: newId('key'), name, createdBy: caller.actorId, createdAt, expiresAt: expiresAt ?? null };
      await this.keys.insert(tx, agent, key, hashAgentKey(secret));
      const metadata = { keyId: key.id, name, ...(expiresAt === undefined ? {} : { expiresAt: expiresAt.toISOString() }) };
      tx.record(chain, { type: 'agent.key_created', metadata });
      const shown = presentAgentKey(key);
      return tx.reply(201, { key: shown, secret }, { key: shown, secret: null });
    });
  }

  async list(agentId: string, page: PageRequest, caller: Caller): Promise<Page<AgentKey>> {
    await this.agents.findRef(caller.scope, agentId);
    return this.query.list(caller.scope, agentId, page);
  }

  /** Raises the revision of the agent's head: the gate's commit orders the deletion against executions that the key began. */
  async delete(agentId: string, keyId: string, caller: Caller): Promise<Reply<undefined>> {
    const ref = await this.agents.findRef(caller.scope, agentId);
    const chain = agentChain(ref.organizationId, ref.id);
    return this.work.run({ chains: [chain] }, async (tx) => {
      const agent = await this.agents.read(tx, ref);
      if (!(await this.keys.delete(tx, agent, keyId))) throw new Problem('NOT_FOUND', 'There is no such key.');
      tx.record(chain, { type: 'agent.key_deleted', metadata: { keyId } });
      return tx.reply(204, undefined);
    });
  }
}
