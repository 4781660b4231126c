import { Injectable } from '@nestjs/common';
import { StatementsOnPool } from '../../../platform/database/statements/statements-on-pool.js';

export interface ChatAccountRow {
  readonly id: string;
  readonly chat: 'slack';
  readonly workspace: string;
  readonly chatUser: string;
  readonly createdAt: Date;
}

@Injectable()
export class ChatAccountsQuery {
  constructor(private readonly pool: StatementsOnPool) {}

  /** Newest first. */
  async of(organizationId: string, userId: string): Promise<ChatAccountRow[]> {
    const rows = await this.pool.run(
      `select c.id, c.chat, c.workspace, c.chat_user as "chatUser", c.created_at as "createdAt" from chat_accounts c
       where c.organization_id = $1 and c.user_id = $2 order by c.id desc`,
      [organizationId, userId],
    );
    return rows as unknown as ChatAccountRow[];
  }
}
