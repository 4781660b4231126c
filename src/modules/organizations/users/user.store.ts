import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type Scope, scopeCondition } from '../../../platform/auth/access/scope.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { constraintProblems } from '../../../platform/http/reply/failure.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { UserEntity } from './user.entity.js';

constraintProblems.set('users_email', { code: 'CONFLICT', detail: 'Another account of this organization has this e-mail address.' });

/** Where an account stands: enough to lock its organization's chain before anything of it is read. */
export interface UserRef {
  readonly organizationId: string;
  readonly id: string;
}

@Injectable()
export class UserStore {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** @throws Problem NOT_FOUND, also for somebody of another organization */
  async findRef(scope: Scope, id: string): Promise<UserRef> {
    const within = scopeCondition(scope, { organization: 'u.organization_id' }, 2);
    const [row] = (await this.dataSource.query(
      `select u.organization_id as "organizationId", u.id from users u where u.id = $1 and ${within.sql}`,
      [id, ...within.parameters],
    )) as UserRef[];
    if (!row) throw new Problem('NOT_FOUND', 'There is no such user.');
    return row;
  }

  /** The account as it stands under the lock of its organization's chain. */
  async read(tx: Tx, { organizationId, id }: UserRef): Promise<UserEntity> {
    const user = await tx.manager.getRepository(UserEntity).findOneBy({ organizationId, id });
    if (!user) throw new Problem('NOT_FOUND', 'There is no such user.');
    return user;
  }

  /** The same, where only one that can still be changed will do. @throws Problem CONFLICT once it is closed */
  async readActive(tx: Tx, ref: UserRef): Promise<UserEntity> {
    const user = await this.read(tx, ref);
    if (user.status !== 'active') throw new Problem('CONFLICT', 'The account is closed.');
    return user;
  }

  /** Open accounts of the organization, a part of them at a time. */
  async someActive(tx: Tx, organizationId: string, limit: number): Promise<UserEntity[]> {
    return tx.manager.getRepository(UserEntity).find({ where: { organizationId, status: 'active' }, order: { id: 'asc' }, take: limit });
  }

  /** Active owners of the organization besides this account. */
  async otherOwners(tx: Tx, { organizationId, id }: UserRef): Promise<number> {
    const [row] = await tx.query<{ count: number }>(
      `select count(*)::integer as count from users where organization_id = $1 and id <> $2 and role = 'owner' and status = 'active'`,
      [organizationId, id],
    );
    return row!.count;
  }

  async insert(tx: Tx, user: UserEntity): Promise<void> {
    await tx.manager.getRepository<object>(UserEntity).insert(user);
  }

  async update(tx: Tx, { organizationId, id, ...rest }: UserEntity): Promise<void> {
    await tx.manager.getRepository<object>(UserEntity).update({ organizationId, id }, rest);
  }
}
