import { Injectable } from '@nestjs/common';
import { StatementsOnPool } from '../../../../platform/database/statements/statements-on-pool.js';
import type { SessionRef } from '../../ports/sessions.js';
import { hashProviderSid } from '../../sessions/session-token.js';
import type { LogoutToken } from './logout-token.js';

const OPEN = `select s.organization_id as "organizationId", s.id from sessions s`;
const OF_IDENTITY = `exists (select 1 from user_identities i where i.organization_id = s.organization_id and i.user_id = s.user_id
  and i.issuer = s.issuer and i.subject = $1)`;

/** Our sessions by what the provider calls its own. */
@Injectable()
export class ProviderSessionsQuery {
  constructor(private readonly pool: StatementsOnPool) {}

  /** Those that have not ended of one session of the provider's, else of all of a user's; where both are named, of both. */
  async of({ issuer, sid, sub }: LogoutToken): Promise<SessionRef[]> {
    const rows = sid === undefined ? await this.pool.run(
      `${OPEN} join user_identities i on i.organization_id = s.organization_id and i.user_id = s.user_id and i.issuer = s.issuer
       where i.subject = $1 and i.issuer = $2 and s.ended_at is null`,
      [sub, issuer],
    ) : await this.pool.run(
      `${OPEN} where s.provider_sid = $2 and s.issuer = $3 and s.ended_at is null and ($1::text is null or ${OF_IDENTITY})`,
      [sub ?? null, hashProviderSid(issuer, sid), issuer],
    );
    return rows as unknown as SessionRef[];
  }
}
