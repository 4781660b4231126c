import { Injectable } from '@nestjs/common';
import { organizationChain } from '../../../../domain/audit/entry/chain.js';
import type { Tx } from '../../../../platform/database/transaction/tx.js';
import type { SessionEndReason, SessionRef } from '../../ports/sessions.js';
import { SessionStore } from '../session.store.js';

/** The ending of sessions, each with its entry; for work that has locked the heads of their organizations. */
@Injectable()
export class EndSessions {
  constructor(private readonly sessions: SessionStore) {}

  /** @returns how many ended now: those that have ended already are left as they are */
  async end(tx: Tx, refs: readonly SessionRef[], reason: SessionEndReason, by: string): Promise<number> {
    const ended = await this.sessions.end(tx, refs, reason, by);
    for (const { organizationId, id: sessionId, userId } of ended) {
      tx.record(organizationChain(organizationId), { type: 'auth.logout', metadata: { sessionId, userId, reason } }, { actorId: by });
    }
    return ended.length;
  }
}
