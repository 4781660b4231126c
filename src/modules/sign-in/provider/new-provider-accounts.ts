import { Inject, Injectable } from '@nestjs/common';
import type { Claims } from '../../../domain/access/claims.js';
import { lowerOf, refusalToMake } from '../../../domain/access/rank.js';
import { organizationChain } from '../../../domain/audit/chain.js';
import { asServiceOnArrival } from '../../../platform/auth/call-context.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import type { Tx } from '../../../platform/database/tx.js';
import { UnitOfWork } from '../../../platform/database/unit-of-work.js';
import { Problem } from '../../../platform/http/problem.js';
import { foldedEmail, MakeAccount } from '../../organizations/make-account.js';
import { sharedChange } from '../../organizations/shared-change.js';
import type { RefusedAccount } from '../seams/provider-accounts.js';
import { AccountInvitationStore, type OpenInvitation } from './account-invitation.store.js';
import { IdentityStore } from './identity.store.js';
import { type InvitationPlace, ProviderPeopleQuery } from './provider-people.query.js';

/** Ends a unit of work that must leave nothing behind. */
class Refused extends Error {
  constructor(readonly account: RefusedAccount) {
    super(account.refused);
  }
}

/** How users of the provider come to an account who have none: by an invitation to their verified address, or at first sight. */
@Injectable()
export class NewProviderAccounts {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'oidcJit' | 'oidcDefaultRole'>,
    private readonly people: ProviderPeopleQuery,
    private readonly identities: IdentityStore,
    private readonly invitations: AccountInvitationStore,
    private readonly accounts: MakeAccount,
    @Inject(UnitOfWork) private readonly work: UnitOfWork,
  ) {}

  /** @returns why not; nothing where the user has an account now, whoever gave it to them */
  async make(issuer: string, claims: Claims): Promise<RefusedAccount | undefined> {
    const invitation = claims.email && (await this.people.invitation(foldedEmail(claims.email), claims.tenantId));
    if (invitation) return claims.emailVerified ? this.accept(issuer, claims, invitation) : { refused: 'unverified' };
    // An account at first sight is nobody's whom the provider could already know by our name.
    if (claims.userId !== undefined) return { refused: 'another_user' };
    if (!this.config.oidcJit) return { refused: 'not_invited' };
    const home = await this.people.home(claims.tenantId);
    return home === undefined ? { refused: 'unknown_tenant' } : this.atFirstSight(issuer, claims, home);
  }

  private accept(issuer: string, claims: Claims, place: InvitationPlace): Promise<RefusedAccount | undefined> {
    const { organizationId } = place;
    return this.inOne(issuer, claims, organizationId, async (tx) => {
      const invitation = await this.invitations.lockOpen(tx, place);
      if (invitation === undefined || !stillCovers(invitation)) throw new Refused({ refused: 'not_invited' });
      const userId = await this.accountFor(tx, organizationId, invitation, claims);
      await this.invitations.accept(tx, place, userId);
      const isReplaced = await this.identities.bind(tx, { organizationId, id: userId }, issuer, claims);
      const chain = organizationChain(organizationId);
      tx.record(chain, { type: 'admin.invitation_ended', metadata: { invitationId: place.id, change: 'accepted' } });
      if (invitation.userId === null) return;
      const change = isReplaced ? 'replaced' : 'added';
      tx.record(chain, { type: 'auth.credential_changed', metadata: { userId, method: 'provider', change } });
    });
  }

  private async accountFor(tx: Tx, organizationId: string, invitation: OpenInvitation, claims: Claims): Promise<string> {
    const { userId, role, name } = invitation;
    if (claims.userId !== undefined && claims.userId !== userId) throw new Refused({ refused: 'another_user' });
    if (userId !== null) return userId;
    if (await this.invitations.isTaken(tx, organizationId, invitation.emailFolded)) throw new Refused({ refused: 'taken' });
    const { id } = await this.accounts.insert(tx, {
      organizationId, email: invitation.email, name: name ?? claims.name ?? null,
      role: claims.role === undefined ? role : lowerOf(role, claims.role), occasion: 'invitation',
    });
    return id;
  }

  /** An address that nobody has verified is left out: by it somebody could be taken for another. */
  private atFirstSight(issuer: string, claims: Claims, organizationId: string): Promise<RefusedAccount | undefined> {
    return this.inOne(issuer, claims, organizationId, async (tx) => {
      const { email, emailVerified, name, role } = claims;
      if (email !== undefined && (await this.invitations.isTaken(tx, organizationId, foldedEmail(email)))) {
        throw new Refused({ refused: 'taken' });
      }
      const { id } = await this.accounts.insert(tx, {
        organizationId, email: email !== undefined && emailVerified ? email : null, name: name ?? null,
        role: role ?? this.config.oidcDefaultRole, occasion: 'provider',
      });
      await this.identities.bind(tx, { organizationId, id }, issuer, claims);
    });
  }

  /** Under the lock of the user, behind the head: whom somebody else has given an account meanwhile needs no second one. */
  private async inOne(
    issuer: string, claims: Claims, organizationId: string, story: (tx: Tx) => Promise<void>,
  ): Promise<RefusedAccount | undefined> {
    try {
      await asServiceOnArrival(() => this.work.run(sharedChange(organizationId), async (tx) => {
        await this.identities.lockSubject(tx, issuer, claims.sub);
        if (await this.identities.isBound(tx, issuer, claims.sub)) return;
        const forgottenAt = await this.identities.forgottenAt(tx, issuer, claims.sub);
        if (forgottenAt !== undefined && !isSince(claims, forgottenAt)) throw new Refused({ refused: 'closed' });
        await story(tx);
      }));
      return undefined;
    } catch (error) {
      if (error instanceof Refused) return error.account;
      if (error instanceof Problem && error.code === 'TIER_REQUIRED') return { refused: 'tier', problem: error };
      throw error;
    }
  }
}

/** A token from before the erasure tells of somebody who is to be known no more. */
function isSince({ issuedAt }: Claims, moment: Date): boolean {
  return issuedAt !== undefined && issuedAt * 1_000 > moment.getTime();
}

/** Whoever invited must still be able to: root always, others by the role they have now. */
function stillCovers({ invitedBy, inviterRole, role }: OpenInvitation): boolean {
  if (invitedBy === 'root') return true;
  return inviterRole !== null && refusalToMake({ kind: 'user', userId: invitedBy, role: inviterRole }, role) === undefined;
}
