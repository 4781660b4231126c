import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import type { Role } from '../../../domain/access/access.js';
import { lowerOf } from '../../../domain/access/rank.js';
import type { PresentedCredentials } from '../../../platform/auth/credentials/bearer.js';
import {
  ABSENT, type CredentialSource, CredentialSources, type Presented, type PresentOptions, type RunStatement,
} from '../../../platform/auth/credentials/credential-source.js';
import type { Principal, UserPrincipal } from '../../../platform/auth/access/principal.js';
import { scopeOfOrganization, scopeOfOrganizations } from '../../../platform/auth/access/scope.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { StatementsOnPool } from '../../../platform/database/statements/statements-on-pool.js';
import { isPassing } from '../../../platform/http/reply/failure.js';
import { LOGGER } from '../../../platform/logging/token.js';
import { type ClaimedRights, claimedIn } from '../ports/claimed-rights.js';
import { RenewalSignal } from '../ports/renewal-signal.js';
import { hashSessionToken, SESSION_TOKEN } from './session-token.js';
import { sayUsed } from './session.store.js';

const UNKNOWN: Presented = { kind: 'invalid', reason: 'unknown session' };

/** A use is said again after so long, so that a page that asks every second writes once a minute: `SESSION_IDLE` is that exact. */
const USED_AGAIN_SECONDS = 60;
const USED_AGAIN_PART = 10;

// What the provider says counts in sessions that it vouched for. The tenant's other organizations are an owner's too.
const CLAIMS = `left join user_identities i
  on i.organization_id = s.organization_id and i.user_id = s.user_id and i.issuer = s.issuer`;

const FIND = `
  select s.organization_id, s.id, s.user_id, s.created_at, u.role, i.claimed_role, i.claimed_role_since, i.has_subscription,
    case when u.status <> 'active' then 'the account is closed' when s.ended_at is not null then 'it has ended'
         when s.expires_at <= clock_timestamp() then 'its time is over'
         when s.idle_until <= clock_timestamp() then 'it was not used for long' end as over,
    s.last_used_at < clock_timestamp() - make_interval(secs => $2) as used_again,
    s.renew_at <= clock_timestamp() and (s.renewing_until is null or s.renewing_until <= clock_timestamp()) as to_renew,
    array(select o.id from organizations o join organizations home on home.tenant_id = o.tenant_id
          where home.id = s.organization_id and u.role = 'owner' and coalesce(i.claimed_role, 'owner') = 'owner') as reached
  from sessions s join users u on u.organization_id = s.organization_id and u.id = s.user_id ${CLAIMS}
  where s.token_hash = $1`;

const COMPARE = `
  select u.role, u.status, s.ended_at is not null or s.idle_until <= clock_timestamp() as over, i.claimed_role, i.has_subscription
  from users u join sessions s on s.organization_id = u.organization_id and s.id = $3 and s.user_id = u.id ${CLAIMS}
  where u.organization_id = $1 and u.id = $2`;

/** Sessions: the rights that a person has at each call, no more than the provider says where one vouched for them. */
@Injectable()
export class SessionSource implements CredentialSource {
  readonly kind = 'user';
  readonly credential = 'session';
  private readonly usedAgainSeconds: number;

  constructor(
    sources: CredentialSources,
    private readonly pool: StatementsOnPool,
    private readonly renewals: RenewalSignal,
    @Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'sessionIdle'>,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.usedAgainSeconds = Math.min(USED_AGAIN_SECONDS, config.sessionIdle / USED_AGAIN_PART);
    sources.register(this);
  }

  present({ session }: PresentedCredentials, options?: PresentOptions): Promise<Presented> | Presented {
    if (session === undefined) return ABSENT;
    return SESSION_TOKEN.test(session) ? this.find(session, options?.isWaiting === true) : UNKNOWN;
  }

  private async find(token: string, isWaiting: boolean): Promise<Presented> {
    const [row] = await this.pool.run(FIND, [hashSessionToken(token), this.usedAgainSeconds]);
    if (!row) return UNKNOWN;
    if (row.over !== null) return { kind: 'ended', reason: row.over as string };
    const organizationId = String(row.organization_id);
    const id = String(row.id);
    if (!isWaiting && row.used_again === true) void this.sayUsed(organizationId, id);
    if (row.to_renew === true) this.renewals.ring({ organizationId, id });
    const claimed = claimedIn(row);
    const principal: UserPrincipal = {
      kind: 'user',
      userId: String(row.user_id),
      organizationId,
      role: effective(row.role as Role, claimed),
      ...claimed,
      credential: { kind: 'session', id, createdAt: row.created_at as Date },
    };
    const reached = row.reached as string[];
    const scope = reached.length === 0 ? scopeOfOrganization(organizationId) : scopeOfOrganizations(organizationId, reached);
    return { kind: 'verified', caller: { principal, scope, actorId: principal.userId }, fresh: true };
  }

  async stillHolds(principal: Principal, run: RunStatement): Promise<string | undefined> {
    if (principal.kind !== 'user' || principal.credential.kind !== 'session') return 'not a session';
    const { organizationId, userId, credential, role, hasSubscription } = principal;
    const [row] = await run(COMPARE, [organizationId, userId, credential.id]);
    if (!row || row.status !== 'active' || row.over === true) return 'the session has ended';
    const claimed = claimedIn(row);
    if (effective(row.role as Role, claimed) !== role) return 'the role has changed meanwhile';
    return claimed.hasSubscription === hasSubscription ? undefined : 'the subscription has changed meanwhile';
  }

  /** Beside the call: that nobody could write it down must not fail what was asked for. */
  private async sayUsed(organizationId: string, id: string): Promise<void> {
    try {
      await sayUsed(this.pool.run, { organizationId, id }, this.config.sessionIdle);
    } catch (error) {
      if (!isPassing(error)) this.logger.error({ err: error }, 'the use of a session could not be written down');
    }
  }
}

function effective(recorded: Role, { claimedRole }: ClaimedRights): Role {
  return claimedRole === undefined ? recorded : lowerOf(recorded, claimedRole);
}
