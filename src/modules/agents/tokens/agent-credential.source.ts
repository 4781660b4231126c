import { Inject, Injectable } from '@nestjs/common';
import type { PresentedCredentials } from '../../../platform/auth/credentials/bearer.js';
import {
  ABSENT, type CredentialSource, CredentialSources, type Presented, type PresentOptions, type RunStatement,
} from '../../../platform/auth/credentials/credential-source.js';
import { InternalKey } from '../../../platform/auth/credentials/internal-key.js';
import { isByPublicKey } from '../../../platform/auth/credentials/jwt-parts.js';
import type { AgentPrincipal, Principal } from '../../../platform/auth/access/principal.js';
import { scopeOfAgent } from '../../../platform/auth/access/scope.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { GatheredReads } from '../../../platform/database/batching/gathered-reads.js';
import { StatementsOnPool } from '../../../platform/database/statements/statements-on-pool.js';
import { textArray } from '../../../platform/database/statements/text-array.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { AGENT_KEY_PREFIX } from '../keys/agent-key.store.js';
import { VerifiedAgentKeys } from '../keys/verified-agent-keys.js';
import { AgentTokens } from './agent-tokens.js';
import { DEAD_KEY, whyCredentialDied } from './credential-life.js';

/** Of the credential of an agent, by what it names. */
const compareOne = (organization: string, agent: string, key: string) => `
  select a.status, a.epoch, o.tenant_id, k.id is not null as has_key
  from agents a join organizations o on o.id = a.organization_id
    left join agent_keys k on k.organization_id = a.organization_id and k.id = ${key} and k.agent_id = a.id
      and (k.expires_at is null or k.expires_at > clock_timestamp())
  where a.organization_id = ${organization} and a.id = ${agent}`;

const COMPARE = compareOne('$1', '$2', '$3');
const COMPARE_ALL = `
  select w.n, c.* from unnest($1::text[], $2::text[], $3::text[]) with ordinality as w(organization_id, agent_id, key_id, n)
  cross join lateral (${compareOne('w.organization_id', 'w.agent_id', 'w.key_id')} limit 1) c`;

/**
 * Agents' tokens and keys. Every bearer credential that is none of our keys, nor the identity provider's to judge, is taken for a token.
 */
@Injectable()
export class AgentCredentialSource implements CredentialSource {
  readonly kind = 'agent';
  private readonly gathered: GatheredReads<AgentPrincipal, Record<string, unknown>>;

  constructor(
    @Inject(CredentialSources) sources: CredentialSources,
    private readonly tokens: AgentTokens,
    private readonly keys: VerifiedAgentKeys,
    private readonly internal: InternalKey,
    @Inject(CONFIG) private readonly config: CompleteConfig,
    private readonly pool: StatementsOnPool,
  ) {
    sources.register(this);
    this.gathered = new GatheredReads(pool.statements, COMPARE_ALL, (all) => [
      textArray(all.map(({ organizationId }) => organizationId)), textArray(all.map(({ agentId }) => agentId)),
      textArray(all.map(({ keyId }) => keyId ?? null)),
    ]);
  }

  present({ bearer }: PresentedCredentials, { late = false, isPastLimit }: PresentOptions = {}): Promise<Presented> | Presented {
    if (bearer === undefined) return ABSENT;
    if (bearer.startsWith('svc_')) return bearer.startsWith(AGENT_KEY_PREFIX) ? this.presentKey(bearer, isPastLimit) : ABSENT;
    if (this.config.oidcIssuer !== undefined && isByPublicKey(bearer)) return ABSENT;
    const checked = this.tokens.verify(bearer, late ? this.config.agentRefreshWindow : 0);
    if (!checked.ok) return this.internal.is(bearer) ? ABSENT : { kind: 'invalid', reason: checked.reason };
    return verified(checked.principal);
  }

  /** Key and organization, status, epoch, in this order: a good credential of an agent out of service is 403, of a dead epoch 401. */
  async stillHolds(principal: Principal, run: RunStatement): Promise<string | undefined> {
    if (principal.kind !== 'agent') return 'not an agent';
    const agent = run === this.pool.run ? await this.gathered.read(principal)
      : (await run(COMPARE, [principal.organizationId, principal.agentId, principal.keyId ?? null]))[0];
    if (!agent) return this.dead(principal, 'unknown agent');
    if (principal.keyId !== undefined && agent.has_key !== true) return this.dead(principal, DEAD_KEY);
    if (agent.status !== 'active') throw new Problem('AGENT_INACTIVE', `The agent is ${String(agent.status)}.`);
    const reason = whyCredentialDied(principal, Number(agent.epoch), agent.tenant_id as string | null);
    return reason === undefined ? undefined : this.dead(principal, reason);
  }

  /** The commit of the gate judges callers besides. */
  forget(principal: Principal): void {
    if (principal.kind === 'agent') this.keys.forget(principal);
  }

  private dead(principal: AgentPrincipal, reason: string): string {
    this.keys.forget(principal);
    return reason;
  }

  private presentKey(bearer: string, isPastLimit: PresentOptions['isPastLimit']): Promise<Presented> | Presented {
    const found = this.keys.find(bearer, isPastLimit);
    return found instanceof Promise ? found.then((principal) => this.shownKey(principal)) : this.shownKey(found);
  }

  private shownKey(principal: AgentPrincipal | undefined): Presented {
    if (principal && Date.now() < principal.expiresAt * 1_000) return verified(principal);
    if (principal) this.keys.forget(principal);
    return { kind: 'invalid', reason: DEAD_KEY };
  }
}

function verified(principal: AgentPrincipal): Presented {
  const scope = scopeOfAgent(principal.organizationId, principal.agentId);
  return { kind: 'verified', caller: { principal, scope, actorId: principal.agentId } };
}
