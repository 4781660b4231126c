import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../../domain/json.js';
import {
  type ErasedSoFar, type ErasureTarget, type PersonalData, PersonalDataHolders,
} from '../../../platform/audit/personal-data/personal-data-holders.js';
import { type FoundPerson, listAbout } from '../../../platform/audit/personal-data/personal-records.js';
import { code, digest, id, personal, secret } from '../../../platform/audit/personal-data/personal-table.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';

/** What deletes at most `$3` rows of a person, by the kind in the counts. */
const DELETE_OWN = {
  chatAccounts: `delete from chat_accounts where organization_id = $1 and id in
    (select id from chat_accounts where organization_id = $1 and user_id = $2 limit $3) returning 1 as one`,
  mailTokens: `delete from mail_tokens where organization_id = $1 and token_hash in
    (select token_hash from mail_tokens where organization_id = $1 and user_id = $2 limit $3) returning 1 as one`,
} as const;

const CHAT_ACCOUNTS = `
  select json_build_object('id', c.id, 'chat', c.chat, 'workspace', c.workspace, 'chatUser', c.chat_user, 'createdAt', c.created_at) as row
  from chat_accounts c where c.organization_id = any ($2) and c.user_id = $1 order by c.id`;

/** By what people decide from elsewhere: their chat accounts, and the links in their mails. Both go with the person. */
@Injectable()
export class ChatPersonalData implements PersonalData {
  readonly name = 'chat-accounts';
  readonly tables = {
    chat_accounts: {
      organization_id: id.class, id: id.class, user_id: id.class, chat: code.class, workspace: id.class, chat_user: personal('user_id').class,
    },
    mail_tokens: {
      organization_id: id.class, token_hash: secret.class, hitl_request_id: id.class, user_id: id.class, digest: digest.class,
    },
  };

  constructor(holders: PersonalDataHolders) {
    holders.register(this);
  }

  async *about(person: FoundPerson): AsyncGenerator<JsonObject> {
    yield* listAbout(person, 'chatAccounts', CHAT_ACCOUNTS);
  }

  async erase(tx: Tx, { organizationId, userId }: ErasureTarget, limit: number): Promise<ErasedSoFar> {
    const counts: Record<string, number> = {};
    let left = limit;
    for (const [kind, statement] of userId === undefined ? [] : Object.entries(DELETE_OWN)) {
      const count = (await tx.query(statement, [organizationId, userId, left])).length;
      if (count > 0) counts[kind] = count;
      left -= count;
      if (left === 0) return { counts, next: kind };
    }
    return { counts };
  }
}
