import { Inject, Injectable } from '@nestjs/common';
import type { Role } from '../../../domain/access/access.js';
import { mayDecideByMail, type MailDecisionFacts } from '../../../domain/notifications/decide-by-mail.js';
import type { Caller, Principal, UserPrincipal } from '../../../platform/auth/access/principal.js';
import { scopeOfOrganization } from '../../../platform/auth/access/scope.js';
import {
  ABSENT, type CredentialSource, CredentialSources, type Presented, type RunStatement,
} from '../../../platform/auth/credentials/credential-source.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { StatementsOnPool } from '../../../platform/database/statements/statements-on-pool.js';
import { claimedIn } from '../../sign-in/ports/claimed-rights.js';
import { joinProviderClaims } from '../../sign-in/ports/provider-claims.query.js';
import { hashMailToken, MAIL_DECISION_FACTS, MAIL_TOKEN } from './mail-token.js';

// A token that was spent, is past its window, is about another version or a closed account, or is not wanted any more, is none.
const FIND = `
  select t.organization_id, t.user_id, t.created_at, may.role, said.claimed_role, said.claimed_role_since, said.has_subscription,
    ${MAIL_DECISION_FACTS}
  from mail_tokens t
  join hitl_requests q on q.organization_id = t.organization_id and q.id = t.hitl_request_id and q.digest = t.digest
  join organizations o on o.id = t.organization_id
  join users u on u.organization_id = t.organization_id and u.id = t.user_id and u.status = 'active'
    ${joinProviderClaims('u', '$2')}
  where t.token_hash = $1 and t.spent_at is null and t.expires_at > clock_timestamp()`;

const GONE = 'the link does not hold any more';

/**
 * Links in mails that decide, as a credential: a link lets its mail's recipient decide the request that it is about, once. Nobody comes in
 * by one but on the page of its decision, and everything that it rests on is asked again in the unit of work.
 */
@Injectable()
export class MailTokenSource implements CredentialSource {
  readonly kind = 'user';
  readonly credential = 'mail';

  constructor(
    sources: CredentialSources,
    private readonly pool: StatementsOnPool,
    @Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'oidcIssuer'>,
  ) {
    sources.register(this);
  }

  present(): Presented {
    return ABSENT;
  }

  /** Whose token this is, if it still holds and is about this request. */
  async find(token: unknown, requestId: string): Promise<Caller | undefined> {
    if (typeof token !== 'string' || !MAIL_TOKEN.test(token)) return undefined;
    const hash = hashMailToken(token);
    const row = await this.read(this.pool.run, hash, `${FIND} and t.hitl_request_id = $3`, requestId);
    if (row === undefined) return undefined;
    const organizationId = String(row['organization_id']);
    const principal: UserPrincipal = {
      kind: 'user', userId: String(row['user_id']), organizationId, role: row['role'] as Role, ...claimedIn(row),
      credential: { kind: 'mail', id: hash, createdAt: row['created_at'] as Date },
    };
    return { principal, scope: scopeOfOrganization(organizationId), actorId: principal.userId };
  }

  async stillHolds(principal: Principal, run: RunStatement): Promise<string | undefined> {
    if (principal.kind !== 'user' || principal.credential.kind !== 'mail') return 'not a link of a mail';
    const row = await this.read(run, principal.credential.id, FIND);
    if (row === undefined) return GONE;
    return row['role'] === principal.role ? undefined : 'the role has changed meanwhile';
  }

  async spend(principal: Principal, run: RunStatement): Promise<boolean> {
    if (principal.kind !== 'user' || principal.credential.kind !== 'mail') return false;
    const { organizationId, credential } = principal;
    const spent = await run(
      `with spent as (update mail_tokens set spent_at = clock_timestamp()
         where organization_id = $1 and token_hash = $2 and spent_at is null returning 1)
       select from spent`,
      [organizationId, credential.id],
    );
    return spent.length > 0;
  }

  private async read(
    run: RunStatement, hash: string, sql: string, ...more: readonly unknown[]
  ): Promise<Record<string, unknown> | undefined> {
    const [row] = await run(sql, [hash, this.config.oidcIssuer ?? null, ...more]);
    return row !== undefined && mayDecideByMail(row as unknown as MailDecisionFacts) ? row : undefined;
  }
}
