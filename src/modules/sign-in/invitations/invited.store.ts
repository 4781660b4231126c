import { Injectable } from '@nestjs/common';
import type { Role } from '../../../domain/access/access.js';
import type { InvitedAccount, Inviter } from '../../../domain/access/invitation.js';
import { lowerOf } from '../../../domain/access/rank.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';

/** An account as an invitation finds it. */
export interface AccountFound extends InvitedAccount {
  readonly id: string;
}

const ACCOUNT = `select u.id, u.status = 'active' as "isActive", u.role, u.email_folded = $2 as "hasAddress",
    u.email_since <= u.created_at as "keptAddress",
    exists (select from passwords p where p.organization_id = u.organization_id and p.user_id = u.id)
      or exists (select from passkeys p where p.organization_id = u.organization_id and p.user_id = u.id)
      or exists (select from user_identities i where i.organization_id = u.organization_id and i.user_id = u.id)
      or exists (select from personal_keys k where k.organization_id = u.organization_id and k.user_id = u.id
                 and k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp())) as "canSignIn"
  from users u where u.organization_id = $1`;

/** Who is concerned by an invitation, as they are under the organization's head. */
@Injectable()
export class InvitedStore {
  /** The active account of an address. */
  async accountOf(tx: Tx, organizationId: string, emailFolded: string): Promise<AccountFound | undefined> {
    const rows = await tx.query<AccountFound>(`${ACCOUNT} and u.email_folded = $2 and u.status = 'active'`, [organizationId, emailFolded]);
    return rows[0];
  }

  /** An account by its id, whatever became of it. */
  async account(tx: Tx, organizationId: string, emailFolded: string, userId: string): Promise<AccountFound | undefined> {
    const [row] = await tx.query<AccountFound & { hasAddress: boolean | null }>(
      `${ACCOUNT} and u.id = $3`, [organizationId, emailFolded, userId],
    );
    return row && { ...row, hasAddress: row.hasAddress === true };
  }

  /** Whoever invited, with the role of this moment. An owner reaches every organization of their tenant. */
  async inviter(tx: Tx, organizationId: string, invitedBy: string): Promise<Inviter> {
    if (invitedBy === 'root') return { kind: 'root' };
    const [row] = await tx.query<{ isActive: boolean; role: Role; claimed: Role | null; isHome: boolean; isTenants: boolean }>(
      `select u.status = 'active' as "isActive", u.role, u.organization_id = $1 as "isHome",
         (select i.claimed_role from user_identities i where i.organization_id = u.organization_id and i.user_id = u.id
          order by i.claims_at desc limit 1) as claimed,
         exists (select from organizations o join organizations home on home.tenant_id = o.tenant_id
                 where o.id = $1 and home.id = u.organization_id) as "isTenants"
       from users u where u.id = $2`,
      [organizationId, invitedBy],
    );
    if (!row) return { kind: 'person', isActive: false, role: 'viewer', reaches: false };
    const role = row.claimed === null ? row.role : lowerOf(row.role, row.claimed);
    return { kind: 'person', isActive: row.isActive, role, reaches: row.isHome || (role === 'owner' && row.isTenants) };
  }
}
