import { Injectable } from '@nestjs/common';
import { mayDecideByMail, type MailDecisionFacts } from '../../../domain/notifications/decide-by-mail.js';
import { cleanupStep, Janitor } from '../../../platform/database/janitor.service.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { hashMailToken, MAIL_DECISION_FACTS, makeMailToken } from './mail-token.js';

/** Whose mail it is, about which version of which request. */
export interface MailTokenTerms {
  readonly organizationId: string;
  readonly requestId: string;
  readonly digest: string;
  readonly userId: string;
}

// Only for people of the organization itself: an owner who reaches it from another one of the tenant signs in.
const ASKED = `
  select ${MAIL_DECISION_FACTS}, q.expires_at as "expiresAt"
  from hitl_requests q join organizations o on o.id = q.organization_id
  join users u on u.organization_id = q.organization_id and u.id = $4 and u.status = 'active'
  where q.organization_id = $1 and q.id = $2 and q.digest = $3 and q.status in ('pending', 'escalated')
    and q.expires_at > clock_timestamp()`;

/** Tokens of links in mails. Only their digests are kept; each ends with the window of the request that it is about. */
@Injectable()
export class MailTokenStore {
  constructor(janitor: Janitor) {
    janitor.register(cleanupStep(
      `delete from mail_tokens where (organization_id, token_hash) in
         (select organization_id, token_hash from mail_tokens where expires_at < clock_timestamp() limit $1)`,
    ));
  }

  /** @returns the token; undefined where a mail may not decide this request */
  async issue(tx: Tx, { organizationId, requestId, digest, userId }: MailTokenTerms): Promise<string | undefined> {
    const [asked] = await tx.query<MailDecisionFacts & { readonly expiresAt: Date }>(ASKED, [organizationId, requestId, digest, userId]);
    if (asked === undefined || !mayDecideByMail(asked)) return undefined;
    const token = makeMailToken();
    await tx.query(
      `insert into mail_tokens (organization_id, token_hash, hitl_request_id, user_id, digest, created_at, expires_at)
       values ($1, $2, $3, $4, $5, clock_timestamp(), $6)`,
      [organizationId, hashMailToken(token), requestId, userId, digest, asked.expiresAt],
    );
    return token;
  }
}
