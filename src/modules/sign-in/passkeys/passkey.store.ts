import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import type { UserRef } from '../../organizations/users/user.store.js';
import type { Assertion, PasskeyKey } from './webauthn/relying-party.js';

export interface NewPasskey extends PasskeyKey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
}

/** Passkeys of one account, whose organization's head the work holds. */
@Injectable()
export class PasskeyStore {
  async insert(tx: Tx, { organizationId, id: userId }: UserRef, passkey: NewPasskey): Promise<void> {
    const { id, name, createdAt, credentialId, publicKey, counter, transports, deviceType, backedUp } = passkey;
    await tx.query(
      `insert into passkeys (organization_id, id, user_id, credential_id, public_key, counter, transports, device_type, backed_up, name,
         created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [organizationId, id, userId, credentialId, publicKey, counter, transports, deviceType, backedUp, name, createdAt],
    );
  }

  async credentialsOf(tx: Tx, { organizationId, id }: UserRef): Promise<string[]> {
    const rows = await tx.query<{ credentialId: string }>(
      `select credential_id as "credentialId" from passkeys where organization_id = $1 and user_id = $2`, [organizationId, id]);
    return rows.map(({ credentialId }) => credentialId);
  }

  /**
   * Moves the counter on, which a copied authenticator would not (WebAuthn, section 6.1.1). Those that do not count say 0 for ever.
   *
   * @returns false where it stands there already, or the passkey is gone
   */
  async use(tx: Tx, { organizationId, id }: UserRef, credentialId: string, { counter, backedUp }: Assertion): Promise<boolean> {
    const used = await tx.query(
      `update passkeys set counter = $4, backed_up = $5, last_used_at = clock_timestamp()
       where organization_id = $1 and user_id = $2 and credential_id = $3 and (counter < $4 or (counter = 0 and $4 = 0)) returning id`,
      [organizationId, id, credentialId, counter, backedUp],
    );
    return used.length > 0;
  }

  /** @throws Problem NOT_FOUND when the account has no such passkey */
  async remove(tx: Tx, { organizationId, id }: UserRef, passkeyId: string): Promise<void> {
    const removed = await tx.query(
      'delete from passkeys where organization_id = $1 and user_id = $2 and id = $3 returning id', [organizationId, id, passkeyId]);
    if (removed.length === 0) throw new Problem('NOT_FOUND', 'There is no such passkey.');
  }

  /** By how many ways somebody can come in on a page. A personal key opens none. */
  async waysIn(tx: Tx, { organizationId, id }: UserRef): Promise<number> {
    const [row] = await tx.query<{ ways: number }>(
      `select (select count(*) from passkeys where organization_id = $1 and user_id = $2)::integer
            + (select count(*) from passwords where organization_id = $1 and user_id = $2)::integer
            + (select count(*) from user_identities where organization_id = $1 and user_id = $2)::integer as ways`,
      [organizationId, id],
    );
    return row!.ways;
  }
}
