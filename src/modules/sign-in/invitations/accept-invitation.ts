import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import type { UserEntity } from '../../organizations/users/user.entity.js';
import { KeepPassword } from '../passwords/keep-password.js';
import { LocalSignIn } from '../passwords/local-sign-in.js';
import { replacedBy, type SignedIn, type SignInContext } from '../ports/sign-in-context.js';
import { Sessions } from '../ports/sessions.js';
import { invitationTokenHash } from './invitation.js';
import { type FoundInvitation, InvitationStore } from './invitation.store.js';
import { GONE, RedeemInvitation } from './redeem-invitation.js';

/** The first credential of an invited person. */
export interface WayIn {
  readonly method: 'password' | 'passkey';
  /** The id of the account, if it is made: the authenticator has it already. */
  readonly userId?: string;
  /** Keeps it for the account, and records that (`auth.credential_changed`), in the unit of work that makes the account. */
  keep(tx: Tx, user: UserEntity): Promise<void>;
}

/** Coming in by an invitation's link: an account, a way into it, and a session, all or nothing. */
@Injectable()
export class AcceptInvitation {
  constructor(
    private readonly local: LocalSignIn,
    private readonly work: UnitOfWork,
    private readonly invitations: InvitationStore,
    private readonly redeeming: RedeemInvitation,
    private readonly passwords: KeepPassword,
    private readonly sessions: Sessions,
  ) {}

  /** What a link is for. It is not used up by looking. @throws Problem NOT_FOUND for one that never was, or is good no more */
  async look(token: string): Promise<FoundInvitation> {
    const hash = invitationTokenHash(token);
    const found = hash === undefined
      ? undefined
      : await this.work.run({ chains: [], leavesFacts: true }, (tx) => this.invitations.openByToken(tx, hash));
    if (!found) throw new Problem('NOT_FOUND', GONE);
    return found;
  }

  /**
   * @throws Problem NOT_FOUND; VALIDATION_FAILED for a password that is too easy to guess; TIER_REQUIRED; CONFLICT where the address
   *   has got an account meanwhile; UNAVAILABLE
   */
  async byPassword(token: string, password: string, visit: SignInContext): Promise<SignedIn> {
    this.local.assertOffered();
    const { email, name } = await this.look(token);
    const hash = await this.passwords.accept(password, { email, name });
    return this.by(token, {
      method: 'password',
      keep: (tx, user) => this.passwords.keep(tx, user, hash),
    }, visit);
  }

  /** The same by any way. @throws Problem NOT_FOUND, TIER_REQUIRED, CONFLICT */
  async by(token: string, way: WayIn, visit: SignInContext): Promise<SignedIn> {
    this.local.assertOffered();
    const invitation = await this.look(token);
    const replaced = replacedBy(visit);
    const plan = RedeemInvitation.plan(invitation, replaced ? [replaced.organizationId] : []);
    const { agent, address } = visit;
    const signedIn = await this.work.run(plan, async (tx): Promise<SignedIn | undefined> => {
      const user = await this.redeeming.redeem(tx, invitation, { newId: way.userId });
      if (!user) return undefined;
      await way.keep(tx, user);
      if (replaced) await this.sessions.end(tx, [replaced], 'replaced', user.id);
      const session = await this.sessions.begin(tx, user, { method: way.method, agent, address });
      return { kind: 'signed_in', user: { organizationId: user.organizationId, id: user.id }, session };
    });
    if (!signedIn) throw new Problem('NOT_FOUND', GONE);
    return signedIn;
  }
}
