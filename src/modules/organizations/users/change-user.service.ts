import { Injectable } from '@nestjs/common';
import { type RoleAfter, leavesNoOwner, lowerOf, refusalToChange, refusalToClose, refusalToMake } from '../../../domain/access/rank.js';
import { organizationChain } from '../../../domain/audit/entry/chain.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import type { Reply } from '../../../platform/http/reply/replies.js';
import { AccountEnds } from './account-ends.js';
import { CloseAccount } from './close-account.js';
import { foldedEmail, MakeAccount } from './make-account.js';
import { OrganizationsQuery } from '../organizations.query.js';
import { actorOf, assertRank } from './rank-check.js';
import { sharedChange } from '../shared-change.js';
import type { UserEntity } from './user.entity.js';
import { UserStore } from './user.store.js';
import type { MakeUserDto, UpdateUserDto } from './users.dto.js';
import { type UserEnvelope, presentUser } from './users.presenter.js';

/**
 * Accounts of people. All changes of one organization's accounts stand in line at its chain's head, so that who is above
 * whom, and who is the last owner, are judged one change after the other.
 */
@Injectable()
export class ChangeUserService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly organizations: OrganizationsQuery,
    private readonly users: UserStore,
    private readonly accounts: MakeAccount,
    private readonly closing: CloseAccount,
    private readonly ends: AccountEnds,
  ) {}

  async make(wanted: MakeUserDto, caller: Caller): Promise<Reply<UserEnvelope>> {
    const organizationId = await this.organizations.choose(caller.scope, wanted.organizationId);
    const { email, name, avatarUrl, role = 'viewer' } = wanted;
    assertRank(refusalToMake(actorOf(caller), role));
    return this.work.run(sharedChange(organizationId), async (tx) => {
      const user = await this.accounts.insert(tx, { organizationId, email, name, avatarUrl, role, occasion: 'made', caller });
      return tx.reply(201, { user: presentUser(user) });
    });
  }

  async update(userId: string, wanted: UpdateUserDto, caller: Caller): Promise<Reply<UserEnvelope>> {
    const ref = await this.users.findRef(caller.scope, userId);
    return this.work.run(sharedChange(ref.organizationId), async (tx) => {
      const user = await this.users.readActive(tx, ref);
      assertRank(refusalToChange(actorOf(caller), user, wanted.role));
      if (wanted.role !== undefined) await this.assertOwnerStays(tx, user, wanted.role);
      const now = await tx.now();
      const emailFolded = wanted.email === undefined ? user.emailFolded : foldedEmail(wanted.email);
      const changed: UserEntity = {
        ...user,
        email: wanted.email ?? user.email,
        emailFolded,
        emailSince: emailFolded === user.emailFolded ? user.emailSince : now,
        name: wanted.name === undefined ? user.name : wanted.name,
        avatarUrl: wanted.avatarUrl === undefined ? user.avatarUrl : wanted.avatarUrl,
        role: wanted.role ?? user.role,
        roleSince: (wanted.role ?? user.role) === user.role ? user.roleSince : now,
        updatedAt: now,
      };
      await this.users.update(tx, changed);
      tx.record(organizationChain(ref.organizationId), {
        type: 'admin.user_updated',
        metadata: { userId, ...changesOf(wanted) },
      });
      if (changed.role !== user.role && lowerOf(changed.role, user.role) === changed.role) {
        await this.ends.ended(tx, ref, { reason: 'role_lost', by: caller.actorId });
      }
      return tx.reply(200, { user: presentUser(changed) });
    });
  }

  async close(userId: string, caller: Caller): Promise<Reply<undefined>> {
    const ref = await this.users.findRef(caller.scope, userId);
    return this.work.run(sharedChange(ref.organizationId), async (tx) => {
      const user = await this.users.readActive(tx, ref);
      assertRank(refusalToClose(actorOf(caller), user));
      await this.assertOwnerStays(tx, user, 'closed');
      await this.closing.close(tx, user, caller.actorId);
      return tx.reply(204, undefined);
    });
  }

  /** @throws Problem CONFLICT when the organization's last owner would go */
  private async assertOwnerStays(tx: Tx, user: UserEntity, after: RoleAfter): Promise<void> {
    if (leavesNoOwner(user, after, await this.users.otherOwners(tx, user))) {
      throw new Problem('CONFLICT', 'This is the last owner of the organization: make another one first.');
    }
  }
}

function changesOf({ email, name, avatarUrl, role }: UpdateUserDto) {
  const cleared = [...(name === null ? ['name'] : []), ...(avatarUrl === null ? ['avatarUrl'] : [])];
  return {
    ...(email === undefined ? {} : { email }),
    ...(name === undefined || name === null ? {} : { name }),
    ...(avatarUrl === undefined || avatarUrl === null ? {} : { avatarUrl }),
    ...(role === undefined ? {} : { role }),
    ...(cleared.length === 0 ? {} : { cleared }),
  };
}
