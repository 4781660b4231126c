import { Injectable } from '@nestjs/common';
import { organizationChain } from '../../../domain/audit/entry/chain.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { AccountEnds } from './account-ends.js';
import { PersonalKeyStore } from '../personal-keys/personal-key.store.js';
import type { UserEntity } from './user.entity.js';
import { UserStore } from './user.store.js';

/** The closing of an account, for whatever reason. */
@Injectable()
export class CloseAccount {
  constructor(
    private readonly users: UserStore,
    private readonly keys: PersonalKeyStore,
    private readonly ends: AccountEnds,
  ) {}

  /**
   * The account ends, and every key and session of it with it; the profile stays, so that what they did still has a name. For a unit of
   * work that changes what the organization shares (`sharedChange`). Whether it may be closed is for whoever calls it.
   *
   * @param by the caller's actor id
   */
  async close(tx: Tx, user: UserEntity, by: string): Promise<void> {
    const { organizationId, id } = user;
    const now = await tx.now();
    await this.users.update(tx, { ...user, status: 'deleted', endedAt: now, updatedAt: now });
    await this.keys.revokeAll(tx, user, by);
    await this.ends.ended(tx, { organizationId, id }, { reason: 'closed', by });
    tx.record(organizationChain(organizationId), { type: 'admin.user_deleted', metadata: { userId: id } });
  }
}
