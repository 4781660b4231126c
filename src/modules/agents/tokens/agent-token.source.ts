import { Inject, Injectable } from '@nestjs/common';
import type { PresentedCredentials } from '../../../platform/auth/credentials/bearer.js';
import {
  ABSENT, type CredentialSource, CredentialSources, type Presented, type PresentOptions, type RunStatement,
} from '../../../platform/auth/credentials/credential-source.js';
import { InternalKey } from '../../../platform/auth/credentials/internal-key.js';
import { isByPublicKey } from '../../../platform/auth/credentials/jwt-parts.js';
import type { Principal } from '../../../platform/auth/access/principal.js';
import { scopeOfAgent } from '../../../platform/auth/access/scope.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { AgentTokens } from './agent-tokens.js';
import { whyTokenDied } from './token-life.js';

const COMPARE = `
  select a.status, a.epoch, o.tenant_id from agents a join organizations o on o.id = a.organization_id
  where a.organization_id = $1 and a.id = $2`;

/** Agents' tokens. Every bearer credential that is none of our keys, nor the identity provider's to judge, is taken for one. */
@Injectable()
export class AgentTokenSource implements CredentialSource {
  readonly kind = 'agent';

  constructor(
    @Inject(CredentialSources) sources: CredentialSources,
    private readonly tokens: AgentTokens,
    private readonly internal: InternalKey,
    @Inject(CONFIG) private readonly config: CompleteConfig,
  ) {
    sources.register(this);
  }

  present({ bearer }: PresentedCredentials, { late = false }: PresentOptions = {}): Presented {
    if (bearer === undefined || bearer.startsWith('svc_')) return ABSENT;
    if (this.config.oidcIssuer !== undefined && isByPublicKey(bearer)) return ABSENT;
    const checked = this.tokens.verify(bearer, late ? this.config.agentRefreshWindow : 0);
    if (!checked.ok) return this.internal.is(bearer) ? ABSENT : { kind: 'invalid', reason: checked.reason };
    const { principal } = checked;
    const scope = scopeOfAgent(principal.organizationId, principal.agentId);
    return { kind: 'verified', caller: { principal, scope, actorId: principal.agentId } };
  }

  /** Organization, status, epoch, in this order: a genuine token of an agent out of service is 403, of a dead epoch 401. */
  async stillHolds(principal: Principal, run: RunStatement): Promise<string | undefined> {
    if (principal.kind !== 'agent') return 'not an agent';
    const [agent] = await run(COMPARE, [principal.organizationId, principal.agentId]);
    if (!agent) return 'unknown agent';
    if (agent.status !== 'active') throw new Problem('AGENT_INACTIVE', `The agent is ${String(agent.status)}.`);
    return whyTokenDied(principal, Number(agent.epoch), agent.tenant_id as string | null);
  }
}
