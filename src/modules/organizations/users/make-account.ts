import { Injectable } from '@nestjs/common';
import type { Role } from '../../../domain/access/access.js';
import { organizationChain } from '../../../domain/audit/entry/chain.js';
import { newId } from '../../../domain/ids.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { Entitlements } from '../../../platform/commerce/entitlements.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import type { UserEntity } from './user.entity.js';
import { UserStore } from './user.store.js';

/** How somebody came to an account: an administrator made it, the identity provider vouched for them, or they were invited. */
export type AccountOccasion = 'made' | 'provider' | 'invitation';

export interface NewAccount {
  readonly organizationId: string;
  /** Where something has been bound to it before the account is there. */
  readonly id?: string | undefined;
  /** Null where the provider gives none; it can be added later. */
  readonly email: string | null;
  readonly name?: string | null | undefined;
  readonly avatarUrl?: string | null | undefined;
  readonly role: Role;
  /** Who handed on the invitation, where no mail did. */
  readonly vouchedBy?: string | null | undefined;
  readonly occasion: AccountOccasion;
  /** Whose subscription is asked besides the organization's, where somebody makes it. */
  readonly caller?: Caller | undefined;
  /** Who did it, where that is not the caller. */
  readonly actorId?: string | undefined;
}

/** The making of an account, whatever the occasion. */
@Injectable()
export class MakeAccount {
  constructor(
    private readonly users: UserStore,
    private readonly entitlements: Entitlements,
  ) {}

  /**
   * For a unit of work that changes what the organization shares (`sharedChange`): a new person changes who may decide. Whether the
   * role may be given is for whoever calls it.
   *
   * @throws Problem TIER_REQUIRED; CONFLICT where the address is taken
   */
  async insert(tx: Tx, wanted: NewAccount): Promise<UserEntity> {
    const { organizationId, email, name = null, avatarUrl = null, role, vouchedBy = null, occasion, caller, actorId } = wanted;
    await this.entitlements.assert((sql, parameters) => tx.query(sql, parameters), organizationId, 'another_user', caller);
    const now = await tx.now();
    const user: UserEntity = {
      organizationId,
      id: wanted.id ?? newId('usr'),
      email,
      emailFolded: email === null ? null : foldedEmail(email),
      emailSince: now,
      name,
      avatarUrl,
      role,
      roleSince: now,
      status: 'active',
      vouchedBy,
      createdAt: now,
      updatedAt: now,
      endedAt: null,
    };
    await this.users.insert(tx, user);
    const known = {
      ...(email === null ? {} : { email }),
      ...(name === null ? {} : { name }),
      ...(avatarUrl === null ? {} : { avatarUrl }),
    };
    tx.record(
      organizationChain(organizationId),
      { type: 'admin.user_created', metadata: { userId: user.id, ...known, role, occasion } },
      actorId === undefined ? {} : { actorId },
    );
    return user;
  }
}

/** The spelling under which an address is unique. */
export const foldedEmail = (email: string): string => email.toLowerCase();
