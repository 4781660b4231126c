import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../platform/database/transaction/tx.js';

/** Somebody in a chat, as the chat tells: ids of its own. */
export interface ChatUser {
  /** A workspace's id in Slack. */
  readonly workspace: string;
  readonly chatUser: string;
  /** A mark of the signing secret by which the chat said so. Whoever sets another secret could say anything of old links. */
  readonly vouchedBy: string;
}

export interface NewChatAccount extends ChatUser {
  readonly organizationId: string;
  readonly id: string;
  readonly userId: string;
}

@Injectable()
export class ChatAccountStore {
  /**
   * @returns false where the chat account belongs to somebody already. What belongs to a closed account, or was said under another secret,
   * belongs to nobody.
   */
  async insert(tx: Tx, { organizationId, id, userId, workspace, chatUser, vouchedBy }: NewChatAccount): Promise<boolean> {
    await tx.query(
      `delete from chat_accounts c using users u
       where c.organization_id = $1 and c.chat = 'slack' and c.workspace = $2 and c.chat_user = $3
         and u.organization_id = c.organization_id and u.id = c.user_id and (u.status <> 'active' or c.vouched_by <> $4)`,
      [organizationId, workspace, chatUser, vouchedBy],
    );
    const rows = await tx.query(
      `insert into chat_accounts (organization_id, id, user_id, chat, workspace, chat_user, vouched_by, created_at)
       values ($1, $2, $3, 'slack', $4, $5, $6, clock_timestamp()) on conflict do nothing returning id`,
      [organizationId, id, userId, workspace, chatUser, vouchedBy],
    );
    return rows.length > 0;
  }

  async count(tx: Tx, organizationId: string, userId: string): Promise<number> {
    const [row] = await tx.query<{ count: number }>(
      'select count(*)::integer as count from chat_accounts where organization_id = $1 and user_id = $2', [organizationId, userId],
    );
    return row!.count;
  }

  /** @returns whether it was there */
  async remove(tx: Tx, organizationId: string, userId: string, id: string): Promise<boolean> {
    const rows = await tx.query<{ id: string }>(
      'delete from chat_accounts where organization_id = $1 and user_id = $2 and id = $3 returning id', [organizationId, userId, id],
    );
    return rows.length > 0;
  }
}
