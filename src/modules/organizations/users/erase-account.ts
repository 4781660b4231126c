import { Injectable } from '@nestjs/common';
import { leavesNoOwner, refusalToClose } from '../../../domain/access/rank.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import type { Scope } from '../../../platform/auth/access/scope.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { AccountEnds, type EndedWithAccount } from './account-ends.js';
import { PersonalKeyStore } from '../personal-keys/personal-key.store.js';
import { actorOf, assertRank } from './rank-check.js';
import { type UserRef, UserStore } from './user.store.js';

export interface ErasedAccount extends EndedWithAccount {
  readonly erasedAt: Date;
  /** What the profile said; absent where the account had been erased before. */
  readonly was?: { readonly isActive: boolean; readonly texts: readonly (string | null)[] };
  /** Keys that were dead or alive until now. */
  readonly keys: number;
}

/** The end of a profile: what is left of an account is an id that says nothing of anybody. */
@Injectable()
export class EraseAccount {
  constructor(
    private readonly users: UserStore,
    private readonly keys: PersonalKeyStore,
    private readonly ends: AccountEnds,
  ) {}

  /** @throws Problem NOT_FOUND, also for somebody of another organization */
  findRef(scope: Scope, userId: string): Promise<UserRef> {
    return this.users.findRef(scope, userId);
  }

  /**
   * For a unit of work that changes what the organization shares (`sharedChange`). Doing it again changes nothing.
   *
   * @throws Problem FORBIDDEN for an account of a role above the caller's, CONFLICT for the organization's last owner
   */
  async erase(tx: Tx, ref: UserRef, caller: Caller): Promise<ErasedAccount> {
    const user = await this.users.read(tx, ref);
    assertRank(refusalToClose(actorOf(caller), user));
    const ending = { reason: 'erased', by: caller.actorId } as const;
    if (user.status === 'erased') return { ...(await this.ends.ended(tx, ref, ending)), erasedAt: user.updatedAt, keys: 0 };
    const isActive = user.status === 'active';
    if (isActive && leavesNoOwner(user, 'closed', await this.users.otherOwners(tx, user))) {
      throw new Problem('CONFLICT', 'This is the last owner of the organization: make another one first.');
    }
    const now = await tx.now();
    const { email, emailFolded, name, avatarUrl } = user;
    await this.users.update(tx, {
      ...user, status: 'erased', email: null, emailFolded: null, name: null, avatarUrl: null, endedAt: user.endedAt ?? now, updatedAt: now,
    });
    await this.keys.revokeAll(tx, ref, caller.actorId);
    const keys = await this.keys.forgetNames(tx, ref);
    return {
      ...(await this.ends.ended(tx, ref, ending)),
      erasedAt: now, was: { isActive, texts: [email, emailFolded, name, avatarUrl] }, keys,
    };
  }
}
