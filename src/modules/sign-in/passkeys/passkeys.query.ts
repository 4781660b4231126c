import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type Scope, scopeCondition } from '../../../platform/auth/access/scope.js';
import type { UserRef } from '../../organizations/users/user.store.js';

export interface PasskeyRow {
  readonly id: string;
  readonly name: string;
  /** Whether it is copied to other devices of its owner. */
  readonly backedUp: boolean;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** A passkey that somebody shows, and whose it is. */
export interface ShownPasskey extends UserRef {
  readonly publicKey: Buffer;
}

/** Nobody has more: so many are listed at once. */
export const PASSKEYS_MAX = 20;

@Injectable()
export class PasskeysQuery {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** Somebody's passkeys, the newest first. */
  async list(scope: Scope, userId: string): Promise<PasskeyRow[]> {
    const within = scopeCondition(scope, { organization: 'p.organization_id' }, 2);
    return (await this.dataSource.query(
      `select p.id, p.name, p.backed_up as "backedUp", p.created_at as "createdAt", p.last_used_at as "lastUsedAt"
       from passkeys p where p.user_id = $1 and ${within.sql} order by p.id desc limit ${PASSKEYS_MAX}`,
      [userId, ...within.parameters],
    )) as PasskeyRow[];
  }

  /**
   * The passkey that somebody shows. An authenticator chooses its credential's id, so it names a passkey only together with the user's
   * handle: nobody can come between by choosing another's.
   */
  async shown(credentialId: string, userId: string): Promise<ShownPasskey | undefined> {
    const [row] = (await this.dataSource.query(
      `select p.organization_id as "organizationId", p.user_id as id, p.public_key as "publicKey"
       from passkeys p where p.credential_id = $1 and p.user_id = $2`,
      [credentialId, userId],
    )) as ShownPasskey[];
    return row;
  }
}
