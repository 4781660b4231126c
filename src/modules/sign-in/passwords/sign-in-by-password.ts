import { Injectable } from '@nestjs/common';
import { organizationChain } from '../../../domain/audit/entry/chain.js';
import { recordsNothing } from '../../../platform/auth/access/call-context.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { UserStore } from '../../organizations/users/user.store.js';
import { Sessions } from '../ports/sessions.js';
import { LocalSignIn } from './local-sign-in.js';
import { type PasswordMatch, type PasswordAttempt, PasswordVerifier } from './password-verifier.js';
import { type Candidate, PasswordStore } from './password.store.js';
import { replacedBy, type SignedIn, type SignInContext } from '../ports/sign-in-context.js';

export type PasswordAnswer =
  | SignedIn
  /** One answer for an unknown address, a closed account and a wrong password. */
  | { readonly kind: 'wrong' }
  /** The password is right for accounts in several organizations: one has to be named. */
  | { readonly kind: 'choose'; readonly organizations: readonly { readonly id: string; readonly name: string }[] };

/** Signing in by address and password: first counted, then judged, then begun under the organization's head. */
@Injectable()
export class SignInByPassword {
  constructor(
    private readonly local: LocalSignIn,
    private readonly judge: PasswordVerifier,
    private readonly work: UnitOfWork,
    private readonly passwords: PasswordStore,
    private readonly accounts: UserStore,
    private readonly sessions: Sessions,
  ) {}

  /**
   * @throws Problem NOT_FOUND where people sign in through a provider; RATE_LIMITED, with `Retry-After`, for whoever has guessed too
   *   often; UNAVAILABLE while too many sign in
   */
  async signIn(wanted: PasswordAttempt, visit: SignInContext): Promise<PasswordAnswer> {
    this.local.assertOffered();
    // A refusal leaves its trace in the platform's chain, outside of this call.
    recordsNothing();
    const judgement = await this.judge.judge(wanted, visit.address);
    const [account, another] = judgement.fitting;
    if (another) return this.choice(judgement);
    const signedIn = account && (await this.begin(account, wanted.password, judgement, visit));
    if (signedIn) return signedIn;
    await this.judge.wrong(visit.address);
    return { kind: 'wrong' };
  }

  private async choice(judgement: PasswordMatch): Promise<PasswordAnswer> {
    await this.work.run({ chains: [], leavesFacts: true }, (tx) => this.judge.succeeded(tx, judgement));
    const organizations = judgement.fitting.map(({ organizationId: id, organizationName: name }) => ({ id, name }));
    return { kind: 'choose', organizations };
  }

  /** @returns undefined where the account was closed, or its password changed, while it was judged */
  private async begin(
    account: Candidate, password: string, judgement: PasswordMatch, visit: SignInContext,
  ): Promise<SignedIn | undefined> {
    const user = { organizationId: account.organizationId, id: account.id };
    const replaced = replacedBy(visit);
    const renewed = await this.judge.renewed(account, password);
    const organizations = new Set([user.organizationId, ...(replaced ? [replaced.organizationId] : [])]);
    const { agent, address } = visit;
    return this.work.run({ chains: [...organizations].map(organizationChain), leavesFacts: true }, async (tx) => {
      const { status } = await this.accounts.read(tx, user);
      if (status !== 'active' || (await this.passwords.read(tx, user)) !== account.hash) return undefined;
      if (renewed !== undefined) await this.passwords.rehash(tx, user, renewed);
      await this.judge.succeeded(tx, judgement);
      if (replaced) await this.sessions.end(tx, [replaced], 'replaced', user.id);
      const session = await this.sessions.begin(tx, user, { method: 'password', agent, address });
      return { kind: 'signed_in', user, session };
    });
  }
}
