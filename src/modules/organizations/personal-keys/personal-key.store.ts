import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { PersonalKeyEntity } from './personal-key.entity.js';
import type { UserRef } from '../users/user.store.js';

/** Keys of one account, whose ref was found within the caller's scope. */
@Injectable()
export class PersonalKeyStore {
  async insert(tx: Tx, key: PersonalKeyEntity): Promise<void> {
    await tx.manager.getRepository<object>(PersonalKeyEntity).insert(key);
  }

  /** Keys that would let somebody in now. */
  async countLive(tx: Tx, { organizationId, id }: UserRef): Promise<number> {
    const [row] = await tx.query<{ count: number }>(
      `select count(*)::integer as count from personal_keys
       where organization_id = $1 and user_id = $2 and revoked_at is null and (expires_at is null or expires_at > clock_timestamp())`,
      [organizationId, id],
    );
    return row!.count;
  }

  /** @throws Problem NOT_FOUND when the account has no such key, or it is revoked already */
  async revoke(tx: Tx, { organizationId, id }: UserRef, keyId: string, by: string): Promise<void> {
    const revoked = await tx.query(
      `update personal_keys set revoked_at = clock_timestamp(), revoked_by = $4
       where organization_id = $1 and user_id = $2 and id = $3 and revoked_at is null returning id`,
      [organizationId, id, keyId, by],
    );
    if (revoked.length === 0) throw new Problem('NOT_FOUND', 'There is no such key.');
  }

  async revokeAll(tx: Tx, { organizationId, id }: UserRef, by: string): Promise<void> {
    await tx.query(
      `update personal_keys set revoked_at = clock_timestamp(), revoked_by = $3
       where organization_id = $1 and user_id = $2 and revoked_at is null`,
      [organizationId, id, by],
    );
  }

  /** What somebody called their keys may say who they are. @returns how many they had */
  async forgetNames(tx: Tx, { organizationId, id }: UserRef): Promise<number> {
    const named = await tx.query(
      `update personal_keys set name = '[erased]' where organization_id = $1 and user_id = $2 returning id`,
      [organizationId, id],
    );
    return named.length;
  }
}
