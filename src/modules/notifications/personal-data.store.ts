import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../domain/json.js';
import {
  type ErasedSoFar, type ErasureTarget, type PersonalData, PersonalDataHolders,
} from '../../platform/audit/personal-data/personal-data-holders.js';
import { type FoundPerson, listAbout } from '../../platform/audit/personal-data/personal-records.js';
import { classesOf, code, type Columns, digest, id, secret } from '../../platform/audit/personal-data/personal-table.js';
import type { Tx } from '../../platform/database/transaction/tx.js';

/** No column holds a person's words: messages are put together when they are sent, so there is nothing in them to search. */
const TABLES: readonly { readonly from: string; readonly columns: Columns }[] = [
  {
    // Recipients are ids and roles; settings are sealed.
    from: 'notification_channels',
    columns: { organization_id: id, channel: code, settings: secret, recipients: id, events: code, off_because: code, updated_by: id },
  },
  {
    from: 'notifications',
    columns: { organization_id: id, id, user_id: id, event: code, priority: code, hitl_request_id: id, execution_id: id, channel: code },
  },
  {
    from: 'notification_deliveries',
    columns: {
      organization_id: id, id, event: code, channel: code, target: id, priority: code, hitl_request_id: id, execution_id: id,
      traceparent: code, state: code, code, receipt: id,
    },
  },
  { from: 'mail_tokens', columns: { organization_id: id, token_hash: secret, hitl_request_id: id, user_id: id, digest } },
  {
    from: 'chat_accounts',
    columns: { organization_id: id, id, user_id: id, chat: code, workspace: id, chat_user: id, vouched_by: digest },
  },
];

/** What deletes at most `$3` rows of a person, by the kind in the counts. */
const DELETE_OWN = {
  notifications: `delete from notifications where organization_id = $1 and id in
    (select id from notifications where organization_id = $1 and user_id = $2 limit $3) returning 1 as one`,
  mailTokens: `delete from mail_tokens where organization_id = $1 and token_hash in
    (select token_hash from mail_tokens where organization_id = $1 and user_id = $2 limit $3) returning 1 as one`,
  chatAccounts: `delete from chat_accounts where organization_id = $1 and id in
    (select id from chat_accounts where organization_id = $1 and user_id = $2 limit $3) returning 1 as one`,
} as const;

/** There are five channels, and whoever erases holds the organization's head, as who sets them up does. */
const DROP_RECIPIENT = `
  update notification_channels set recipients =
    (select coalesce(json_agg(one), '[]'::json) from json_array_elements(recipients) one where one->>'userId' is distinct from $2)
  where organization_id = $1 and exists (select from json_array_elements(recipients) one where one->>'userId' = $2)
  returning 1 as one`;

/** What this module holds of people: what they were notified of, in which chats they are who, and who is named as a recipient. */
@Injectable()
export class NotificationsPersonalData implements PersonalData {
  readonly name = 'notifications';
  readonly tables = classesOf(TABLES);

  constructor(holders: PersonalDataHolders) {
    holders.register(this);
  }

  async *about(person: FoundPerson): AsyncGenerator<JsonObject> {
    for (const [name, sql] of Object.entries(LISTS)) yield* listAbout(person, name, sql);
  }

  async erase(tx: Tx, { organizationId, userId }: ErasureTarget, limit: number): Promise<ErasedSoFar> {
    if (userId === undefined) return { counts: {} };
    const counts: Record<string, number> = {};
    let left = limit;
    for (const [kind, statement] of Object.entries(DELETE_OWN)) {
      const count = (await tx.query(statement, [organizationId, userId, left])).length;
      if (count > 0) counts[kind] = count;
      left -= count;
      if (left === 0) return { counts, next: 'own' };
    }
    const named = (await tx.query(DROP_RECIPIENT, [organizationId, userId])).length;
    return { counts: { ...counts, ...(named > 0 ? { channels: named } : {}) } };
  }
}

/** What a copy lists. */
const LISTS = {
  notifications: `
    select json_build_object('id', n.id, 'event', n.event, 'requestId', n.hitl_request_id, 'executionId', n.execution_id,
      'createdAt', n.created_at, 'readAt', n.read_at) as row
    from notifications n where n.organization_id = any ($2) and n.user_id = $1 order by n.id`,
  chatAccounts: `
    select json_build_object('id', c.id, 'chat', c.chat, 'workspace', c.workspace, 'chatUser', c.chat_user,
      'createdAt', c.created_at) as row
    from chat_accounts c where c.organization_id = any ($2) and c.user_id = $1 order by c.id`,
} as const;
