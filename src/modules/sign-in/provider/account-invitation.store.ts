import { Injectable } from '@nestjs/common';
import type { Role } from '../../../domain/access/access.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { InvitationPlace } from './provider-people.query.js';

/** An invitation that can be accepted, and who stands behind it. */
export interface OpenInvitation {
  readonly name: string | null;
  readonly email: string;
  readonly emailFolded: string;
  readonly role: Role;
  /** Whose account is there already. */
  readonly userId: string | null;
  readonly invitedBy: string;
  /** The inviter's role of this moment; null where that account is closed, or nobody's. */
  readonly inviterRole: Role | null;
}

/** Invitations as the provider's users accept them: by their address, without the link. For works that hold the organization's head. */
@Injectable()
export class AccountInvitationStore {
  async lockOpen(tx: Tx, { organizationId, id }: InvitationPlace): Promise<OpenInvitation | undefined> {
    const [open] = await tx.query<OpenInvitation>(
      `select i.name, i.email, i.email_folded as "emailFolded", i.role, i.user_id as "userId", i.invited_by as "invitedBy",
         (select u.role from users u where u.id = i.invited_by and u.status = 'active') as "inviterRole"
       from invitations i
       where i.organization_id = $1 and i.id = $2 and i.accepted_at is null and i.voided_at is null
         and i.expires_at > clock_timestamp()
       for update of i`,
      [organizationId, id],
    );
    return open;
  }

  async accept(tx: Tx, { organizationId, id }: InvitationPlace, userId: string): Promise<void> {
    await tx.query(
      `update invitations set accepted_at = clock_timestamp(), accepted_by = $3, user_id = $3 where organization_id = $1 and id = $2`,
      [organizationId, id, userId],
    );
  }

  async isTaken(tx: Tx, organizationId: string, emailFolded: string): Promise<boolean> {
    const rows = await tx.query(
      `select 1 from users where organization_id = $1 and email_folded = $2 and status = 'active'`, [organizationId, emailFolded]);
    return rows.length > 0;
  }
}
