import { Inject, Injectable } from '@nestjs/common';
import type { Role } from '../../../domain/access/access.js';
import type { Caller, Principal, UserPrincipal } from '../../../platform/auth/access/principal.js';
import { scopeOfOrganization } from '../../../platform/auth/access/scope.js';
import {
  ABSENT, type CredentialSource, CredentialSources, type Presented, type RunStatement,
} from '../../../platform/auth/credentials/credential-source.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { StatementsOnPool } from '../../../platform/database/statements/statements-on-pool.js';
import { claimedIn } from '../../sign-in/ports/claimed-rights.js';
import { joinProviderClaims } from '../../sign-in/ports/provider-claims.query.js';
import type { ChatUser } from './chat-account.store.js';

const LINKED = `
  select c.id, c.user_id, c.created_at, may.role, said.claimed_role, said.claimed_role_since, said.has_subscription
  from chat_accounts c
  join users u on u.organization_id = c.organization_id and u.id = c.user_id and u.status = 'active' ${joinProviderClaims('u', '$2')}
  where c.organization_id = $1 and`;

const FIND = `${LINKED} c.chat = 'slack' and c.workspace = $3 and c.chat_user = $4 and c.vouched_by = $5`;
const COMPARE = `${LINKED} c.id = $3 and c.user_id = $4`;

/** Chat accounts that people linked to theirs, as a credential: shown by a call that the chat has signed, and by nothing else. */
@Injectable()
export class ChatAccountSource implements CredentialSource {
  readonly kind = 'user';
  readonly credential = 'chat';

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

  /** The person of this organization to whose account the chat account is linked, under the secret that signed the call. */
  async find(organizationId: string, { workspace, chatUser, vouchedBy }: ChatUser): Promise<Caller | undefined> {
    const [row] = await this.pool.run(FIND, [organizationId, this.config.oidcIssuer ?? null, workspace, chatUser, vouchedBy]);
    if (row === undefined) return undefined;
    const principal: UserPrincipal = {
      kind: 'user', userId: String(row['user_id']), organizationId, role: row['role'] as Role, ...claimedIn(row),
      credential: { kind: 'chat', id: String(row['id']), createdAt: row['created_at'] as Date },
    };
    return { principal, scope: scopeOfOrganization(organizationId), actorId: principal.userId };
  }

  async stillHolds(principal: Principal, run: RunStatement): Promise<string | undefined> {
    if (principal.kind !== 'user' || principal.credential.kind !== 'chat') return 'not a chat account';
    const { organizationId, userId, credential, role } = principal;
    const [row] = await run(COMPARE, [organizationId, this.config.oidcIssuer ?? null, credential.id, userId]);
    if (row === undefined) return 'the chat account is not linked any more';
    return row['role'] === role ? undefined : 'the role has changed meanwhile';
  }
}
