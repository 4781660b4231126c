import { Injectable } from '@nestjs/common';
import type { Role } from '../../../domain/access/access.js';
import { type Delivery, type InvitationFlaw, invitationFlaw, type Inviter } from '../../../domain/access/invitation.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { Entitlements } from '../../../platform/commerce/entitlements.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { InvitationStore } from './invitation.store.js';
import { InvitedStore } from './invited.store.js';

export interface WantedInvitation {
  readonly organizationId: string;
  readonly emailFolded: string;
  readonly role: Role;
  readonly delivery: Delivery;
}

const WORDS: Readonly<Record<InvitationFlaw, string>> = {
  inviter_gone: 'Only people and root change people.',
  inviter_lowered: 'Nobody changes an account of a role above their own.',
  account_changed: 'The account is closed.',
  link_to_a_colleague: 'The account is in use. A link into it goes by mail to the address that it was made with, or is made by root: '
    + 'whoever has it could act in its name.',
};

/** Whether somebody may be invited, under the organization's head. */
@Injectable()
export class InvitationTerms {
  constructor(
    private readonly invitations: InvitationStore,
    private readonly invited: InvitedStore,
    private readonly entitlements: Entitlements,
  ) {}

  /**
   * @returns the account that is there already, if there is one
   * @throws Problem CONFLICT for an address that is invited already, or whose account has another role; FORBIDDEN; TIER_REQUIRED
   */
  async assert(tx: Tx, wanted: WantedInvitation, caller: Caller): Promise<string | undefined> {
    const { organizationId, emailFolded, role, delivery } = wanted;
    if (await this.invitations.isOpen(tx, organizationId, emailFolded)) {
      throw new Problem('CONFLICT', 'This address is invited already: void that invitation first.');
    }
    const account = await this.invited.accountOf(tx, organizationId, emailFolded);
    if (!account) {
      await this.entitlements.assert((sql, parameters) => tx.query(sql, parameters), organizationId, 'another_user', caller);
      return undefined;
    }
    const flaw = invitationFlaw({ role, delivery }, inviterOf(caller), account);
    if (flaw !== undefined) throw new Problem('FORBIDDEN', WORDS[flaw]);
    if (account.role !== role) throw new Problem('CONFLICT', `This address has an account already, of the role ${account.role}.`);
    return account.id;
  }
}

/** The caller reaches the organization, or would not have come this far. */
function inviterOf({ principal }: Caller): Inviter {
  if (principal.kind === 'user') return { kind: 'person', isActive: true, role: principal.role, reaches: true };
  return principal.kind === 'root' ? { kind: 'root' } : { kind: 'person', isActive: false, role: 'viewer', reaches: false };
}
