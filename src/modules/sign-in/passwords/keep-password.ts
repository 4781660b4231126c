import { Injectable } from '@nestjs/common';
import type { PasswordOwner } from '../../../domain/access/password-rules.js';
import { organizationChain } from '../../../domain/audit/entry/chain.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import type { UserRef } from '../../organizations/users/user.store.js';
import { Sessions } from '../ports/sessions.js';
import { PasswordHashing } from './password-hashing.js';
import { PasswordStore } from './password.store.js';

/** Keeps a new password: checked, hashed, stored and recorded. */
@Injectable()
export class KeepPassword {
  constructor(
    private readonly dear: PasswordHashing,
    private readonly passwords: PasswordStore,
    private readonly sessions: Sessions,
  ) {}

  /** @returns its hash. @throws Problem VALIDATION_FAILED at `/password` for one that is too easy to guess; UNAVAILABLE */
  accept(password: string, owner: PasswordOwner): Promise<string> {
    return this.dear.accept(password, owner, '/password');
  }

  /**
   * For a work that holds the organization's head. Whoever came in by the old one is out.
   *
   * @param session the one that stays, where its owner sets it within a session
   */
  async keep(tx: Tx, { organizationId, id }: UserRef, hash: string, session?: string): Promise<void> {
    const ref = { organizationId, id };
    const wasThere = await this.passwords.put(tx, ref, hash);
    tx.record(organizationChain(organizationId), {
      type: 'auth.credential_changed', metadata: { userId: id, method: 'password', change: wasThere ? 'replaced' : 'added' },
    }, { actorId: id });
    await this.sessions.end(tx, await this.passwords.openSessions(tx, ref, session), 'revoked', id);
  }
}
