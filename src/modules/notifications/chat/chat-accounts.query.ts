import { Injectable } from '@nestjs/common';
import { type Scope, scopeCondition } from '../../../platform/auth/access/scope.js';
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
  async of(scope: Scope, userId: string): Promise<ChatAccountRow[]> {
    const within = scopeCondition(scope, { organization: 'c.organization_id' }, 2);
    const rows = await this.pool.run(
      `select c.id, c.chat, c.workspace, c.chat_user as "chatUser", c.created_at as "createdAt" from chat_accounts c
       where c.user_id = $1 and ${within.sql} order by c.id desc`,
      [userId, ...within.parameters],
    );
    return rows as unknown as ChatAccountRow[];
  }
}
