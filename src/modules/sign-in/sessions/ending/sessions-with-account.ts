import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../../platform/database/transaction/tx.js';
import { type AccountEnd, type AccountEnding, AccountEnds } from '../../../organizations/users/account-ends.js';
import type { UserRef } from '../../../organizations/users/user.store.js';
import { EndSessions } from './end-sessions.js';
import { SessionStore } from '../session.store.js';

/** Who loses their account, or a part of their role, has to sign in again: what a session could do must not outlive it. */
@Injectable()
export class SessionsWithAccount implements AccountEnd {
  constructor(
    private readonly sessions: SessionStore,
    private readonly ends: EndSessions,
    accounts: AccountEnds,
  ) {
    accounts.register(this);
  }

  async ended(tx: Tx, ref: UserRef, { reason, by }: AccountEnding): Promise<{ readonly sessions: number }> {
    return { sessions: await this.ends.end(tx, await this.sessions.openOf(tx, ref), reason, by) };
  }
}
