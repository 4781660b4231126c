import { Inject, Injectable } from '@nestjs/common';
import type { Claims } from '../../../../domain/access/claims.js';
import { asServiceOnArrival } from '../../../../platform/auth/access/call-context.js';
import { CONFIG, type CompleteConfig } from '../../../../platform/config/config.js';
import type { Plan } from '../../../../platform/database/transaction/plan.js';
import type { Tx } from '../../../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../../platform/http/reply/problem.js';
import { foldedEmail, MakeAccount } from '../../../organizations/users/make-account.js';
import { sharedChange } from '../../../organizations/shared-change.js';
import type { UserRef } from '../../../organizations/users/user.store.js';
import { RedeemInvitation } from '../../invitations/redeem-invitation.js';
import type { AccountRefusal, RefusedAccount } from '../../ports/provider-accounts.js';
import { IdentityStore } from './identity.store.js';
import { InvitedByAddress } from './invited-by-address.js';
import { ProviderPeopleQuery } from './provider-people.query.js';

/** How users of the provider come to an account who have none: by an invitation to their verified address, or at first sight. */
@Injectable()
export class NewProviderAccounts {
  constructor(
    private readonly people: ProviderPeopleQuery,
    private readonly identities: IdentityStore,
    private readonly invited: InvitedByAddress,
    private readonly accounts: MakeAccount,
    @Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'oidcJit' | 'oidcDefaultRole'>,
    @Inject(UnitOfWork) private readonly work: UnitOfWork,
  ) {}

  /** @returns why not; nothing where the user has an account now, whoever gave it to them */
  async make(issuer: string, claims: Claims): Promise<RefusedAccount | undefined> {
    const invitation = await this.invited.find(claims);
    if (invitation) {
      if (!claims.emailVerified) return { refused: 'unverified' };
      if (invitation === 'several') return { refused: 'several' };
      return this.inOne(issuer, claims, RedeemInvitation.plan(invitation), (tx) => this.invited.accept(tx, invitation, issuer, claims));
    }
    // An account at first sight is nobody's whom the provider could already know by our name.
    if (claims.userId !== undefined) return { refused: 'another_user' };
    if (!this.config.oidcJit) return { refused: 'not_invited' };
    const home = await this.people.home(claims.tenantId);
    return home === undefined ? { refused: 'unknown_tenant' } : this.atFirstSight(issuer, claims, home);
  }

  /**
   * Another account for somebody whose own is closed, if they were invited since: the link moves.
   *
   * @returns why not; nothing where they have another account now, whoever gave it to them
   */
  async makeAnew(issuer: string, claims: Claims, closed: UserRef): Promise<RefusedAccount | undefined> {
    const invitation = claims.emailVerified ? await this.invited.find(claims) : undefined;
    if (invitation === undefined) return { refused: 'closed' };
    if (invitation === 'several') return { refused: 'several' };
    const plan = RedeemInvitation.plan(invitation, [closed.organizationId]);
    return this.inOne(issuer, claims, plan, (tx) => this.invited.accept(tx, invitation, issuer, claims, closed), closed);
  }

  /** An address that nobody has verified is left out: by it somebody could be taken for another. */
  private atFirstSight(issuer: string, claims: Claims, organizationId: string): Promise<RefusedAccount | undefined> {
    return this.inOne(issuer, claims, sharedChange(organizationId), async (tx) => {
      const { email, emailVerified, name, role } = claims;
      if (email !== undefined && (await this.identities.isAddressTaken(tx, organizationId, foldedEmail(email)))) return 'taken';
      const { id } = await this.accounts.insert(tx, {
        organizationId, email: email !== undefined && emailVerified ? email : null, name: name ?? null,
        role: role ?? this.config.oidcDefaultRole, occasion: 'provider',
      });
      await this.identities.bind(tx, { organizationId, id }, issuer, claims);
      return undefined;
    });
  }

  /** Under the lock of the provider's user, behind the heads: where another call has made the account meanwhile, no second is made. */
  private async inOne(
    issuer: string, claims: Claims, plan: Plan, act: (tx: Tx) => Promise<AccountRefusal | undefined>, closed?: UserRef,
  ): Promise<RefusedAccount | undefined> {
    try {
      const refused = await asServiceOnArrival(() => this.work.run(plan, async (tx) => {
        await this.identities.lockSubject(tx, issuer, claims.sub);
        const bound = await this.identities.boundTo(tx, issuer, claims.sub);
        if (bound !== undefined && (bound.isActive || bound.id !== closed?.id)) return undefined;
        const forgottenAt = await this.identities.forgottenAt(tx, issuer, claims.sub);
        return forgottenAt !== undefined && !isSince(claims, forgottenAt) ? 'closed' : act(tx);
      }));
      return refused && { refused };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.code === 'TIER_REQUIRED') return { refused: 'tier', problem: error };
      if (error.code === 'CONFLICT') return { refused: 'taken' };
      throw error;
    }
  }
}

/** A token from before the erasure is about a person who must not get an account by it. */
function isSince({ issuedAt }: Claims, moment: Date): boolean {
  return issuedAt !== undefined && issuedAt * 1_000 > moment.getTime();
}
