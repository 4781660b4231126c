import { Inject, Injectable } from '@nestjs/common';
import type { Role } from '../../../domain/access/access.js';
import type { PresentedCredentials } from '../../../platform/auth/credentials/bearer.js';
import {
  ABSENT, type CredentialSource, CredentialSources, type Presented, type RunStatement,
} from '../../../platform/auth/credentials/credential-source.js';
import type { Principal, UserPrincipal } from '../../../platform/auth/access/principal.js';
import { scopeOfOrganization, scopeOfOrganizations } from '../../../platform/auth/access/scope.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { StatementsOnPool } from '../../../platform/database/statements/statements-on-pool.js';
import { hashPersonalKey, PERSONAL_KEY_FORM } from '../../organizations/personal-keys/personal-key.js';
import { claimedIn } from '../ports/claimed-rights.js';
import { joinProviderClaims } from '../ports/provider-claims.query.js';

const UNKNOWN = 'unknown, revoked or expired personal key';

// The tenant's other organizations are an owner's too.
const FIND = `
  select k.id, k.user_id, k.organization_id, k.created_at, may.role, said.claimed_role, said.claimed_role_since, said.has_subscription,
    array(select o.id from organizations o join organizations home on home.tenant_id = o.tenant_id
          where home.id = k.organization_id and may.role = 'owner') as reached
  from personal_keys k join users u on u.organization_id = k.organization_id and u.id = k.user_id ${joinProviderClaims('u', '$2')}
  where k.key_hash = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp()) and u.status = 'active'`;

const COMPARE = `
  select may.role, u.status, k.revoked_at is not null or k.expires_at <= clock_timestamp() as dead, said.has_subscription
  from users u join personal_keys k on k.organization_id = u.organization_id and k.id = $3 and k.user_id = u.id
    ${joinProviderClaims('u', '$4')}
  where u.organization_id = $1 and u.id = $2`;

/** Personal keys: a person's rights of this moment, read at each call; no more than the provider says, as in its sessions. */
@Injectable()
export class PersonalKeySource implements CredentialSource {
  readonly kind = 'user';
  readonly credential = 'key';

  constructor(
    sources: CredentialSources,
    private readonly pool: StatementsOnPool,
    @Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'oidcIssuer'>,
  ) {
    sources.register(this);
  }

  present({ bearer }: PresentedCredentials): Promise<Presented> | Presented {
    if (bearer === undefined || !bearer.startsWith('svc_user_')) return ABSENT;
    return PERSONAL_KEY_FORM.test(bearer) ? this.find(bearer) : { kind: 'invalid', reason: UNKNOWN };
  }

  private async find(bearer: string): Promise<Presented> {
    const [row] = await this.pool.run(FIND, [hashPersonalKey(bearer), this.config.oidcIssuer ?? null]);
    if (!row) return { kind: 'invalid', reason: UNKNOWN };
    const organizationId = String(row.organization_id);
    const reached = row.reached as string[];
    const principal: UserPrincipal = {
      kind: 'user',
      userId: String(row.user_id),
      organizationId,
      role: row.role as Role,
      ...claimedIn(row),
      credential: { kind: 'key', id: String(row.id), createdAt: row.created_at as Date },
    };
    const scope = reached.length === 0 ? scopeOfOrganization(organizationId) : scopeOfOrganizations(organizationId, reached);
    return { kind: 'verified', caller: { principal, scope, actorId: principal.userId }, fresh: true };
  }

  async stillHolds(principal: Principal, run: RunStatement): Promise<string | undefined> {
    if (principal.kind !== 'user' || principal.credential.kind !== 'key') return 'not a personal key';
    const { organizationId, userId, credential, role, hasSubscription } = principal;
    const [row] = await run(COMPARE, [organizationId, userId, credential.id, this.config.oidcIssuer ?? null]);
    if (!row || row.status !== 'active' || row.dead === true) return UNKNOWN;
    if (row.role !== role) return 'the role has changed meanwhile';
    return (row.has_subscription ?? undefined) === hasSubscription ? undefined : 'the subscription has changed meanwhile';
  }
}
