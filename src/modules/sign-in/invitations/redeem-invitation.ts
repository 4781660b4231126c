import { Injectable } from '@nestjs/common';
import type { Role } from '../../../domain/access/access.js';
import { invitationFlaw } from '../../../domain/access/invitation.js';
import { lowerOf } from '../../../domain/access/rank.js';
import { organizationChain } from '../../../domain/audit/entry/chain.js';
import type { Plan } from '../../../platform/database/transaction/plan.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { MakeAccount } from '../../organizations/users/make-account.js';
import { sharedChange } from '../../organizations/shared-change.js';
import type { UserEntity } from '../../organizations/users/user.entity.js';
import { UserStore } from '../../organizations/users/user.store.js';
import { type FoundInvitation, type InvitationRef, InvitationStore } from './invitation.store.js';
import { InvitedStore } from './invited.store.js';
import { voidInvitations } from './void-invitations.store.js';

/** Who comes by an invitation. */
export interface Redeemer {
  /** Of the account, if it is made: a passkey has been made for it already. */
  readonly newId?: string | undefined;
  /** What the identity provider says of them. It vouches for who they are; the role is at most the one that it names. */
  readonly provider?: { readonly role?: Role | undefined; readonly name?: string | undefined };
}

/** From an invitation to the account that it is for, by whichever way somebody then comes in. */
@Injectable()
export class RedeemInvitation {
  constructor(
    private readonly invitations: InvitationStore,
    private readonly invited: InvitedStore,
    private readonly accounts: MakeAccount,
    private readonly users: UserStore,
  ) {}

  /** The heads for it: the inviter's too, so that their role is judged either before it changes or after. */
  static plan({ organizationId, inviterOrganizationId }: FoundInvitation, more: readonly string[] = []): Plan {
    const organizations = new Set([organizationId, ...(inviterOrganizationId === null ? [] : [inviterOrganizationId]), ...more]);
    return { ...sharedChange(organizationId), chains: [...organizations].map(organizationChain) };
  }

  /**
   * For a unit of work by `plan`. An invitation that lets nobody in any more is voided, which has to be committed.
   *
   * @returns the account, made or found; undefined where the invitation holds no more
   * @throws Problem TIER_REQUIRED; CONFLICT where the address has got an account meanwhile
   */
  async redeem(tx: Tx, ref: InvitationRef, { newId, provider }: Redeemer = {}): Promise<UserEntity | undefined> {
    const { organizationId } = ref;
    const invitation = await this.invitations.read(tx, ref);
    if (invitation?.status !== 'open') return undefined;
    const { email, emailFolded, name, userId, delivery, invitedBy } = invitation;
    const account = userId === null ? undefined : await this.invited.account(tx, organizationId, emailFolded, userId);
    const inviter = await this.invited.inviter(tx, organizationId, invitedBy);
    if ((userId !== null && !account) || invitationFlaw(invitation, inviter, account) !== undefined) {
      await voidInvitations(tx, [ref], 'system');
      return undefined;
    }
    const vouchedBy = delivery === 'hand' && inviter.kind === 'person' && !provider ? invitedBy : null;
    const role = lowerOf(invitation.role, provider?.role ?? invitation.role);
    const user = account
      ? await this.vouched(tx, { organizationId, id: account.id }, vouchedBy)
      : await this.accounts.insert(tx, {
          organizationId, email, name: name ?? provider?.name ?? null, role, vouchedBy, occasion: 'invitation', id: newId,
        });
    if (!(await this.invitations.accept(tx, ref, user.id))) throw new Problem('NOT_FOUND', GONE);
    tx.record(organizationChain(organizationId), {
      type: 'admin.invitation_ended', metadata: { invitationId: ref.id, change: 'accepted' },
    }, { actorId: user.id });
    return user;
  }

  /** An inviter who passed the link on had it in hand, so inviter and account count as one person from now on. */
  private async vouched(tx: Tx, ref: { organizationId: string; id: string }, vouchedBy: string | null): Promise<UserEntity> {
    const user = await this.users.read(tx, ref);
    if (vouchedBy === null || vouchedBy === user.id) return user;
    const changed = { ...user, vouchedBy, updatedAt: await tx.now() };
    await this.users.update(tx, changed);
    return changed;
  }
}

/** One answer for a link that never was, was used, was voided, or is too old. */
export const GONE = 'This invitation is not good any more. Ask whoever invited you for another one.';
