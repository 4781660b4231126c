import { Injectable } from '@nestjs/common';
import { organizationChain } from '../../../domain/audit/entry/chain.js';
import type { Caller, UserPrincipal } from '../../../platform/auth/access/principal.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import type { Reply } from '../../../platform/http/reply/replies.js';
import { type UserRef, UserStore } from '../../organizations/users/user.store.js';
import { isRecentSignIn } from '../../../platform/auth/credentials/recent-sign-in.js';
import { KeepPassword } from './keep-password.js';
import type { ChangePasswordDto } from './passwords.dto.js';
import { LocalSignIn } from './local-sign-in.js';
import { notRight, OwnPassword } from './own-password.js';
import { PasswordStore } from './password.store.js';

/** Setting one's own password. */
@Injectable()
export class ChangePasswordService {
  constructor(
    private readonly local: LocalSignIn,
    private readonly own: OwnPassword,
    private readonly work: UnitOfWork,
    private readonly passwords: PasswordStore,
    private readonly accounts: UserStore,
    private readonly keeping: KeepPassword,
  ) {}

  /** @throws Problem FORBIDDEN without a fresh session or the present password; VALIDATION_FAILED, RATE_LIMITED, UNAVAILABLE */
  async change({ password, current }: ChangePasswordDto, caller: Caller): Promise<Reply<undefined>> {
    this.local.assertOffered();
    const principal = personOf(caller);
    const ref = { organizationId: principal.organizationId, id: principal.userId };
    const proven = await this.prove(principal, ref, current);
    const { email, name } = await this.work.run({ chains: [], leavesFacts: true }, (tx) => this.accounts.read(tx, ref));
    const hash = await this.keeping.accept(password, { email, name });
    return this.work.run({ chains: [organizationChain(ref.organizationId)], leavesFacts: true }, async (tx) => {
      await this.accounts.readActive(tx, ref);
      // What was proven must still be so: somebody else may have set another one meanwhile.
      if (proven !== undefined && (await this.passwords.read(tx, ref)) !== proven) throw notRight();
      const { credential } = principal;
      await this.keeping.keep(tx, ref, hash, credential.kind === 'session' ? credential.id : undefined);
      return tx.reply(204, undefined);
    });
  }

  /** @returns the hash of the present password, where it was shown */
  private async prove({ credential }: UserPrincipal, ref: UserRef, current: string | undefined): Promise<string | undefined> {
    if (current !== undefined) return this.own.prove(ref, current);
    if (isRecentSignIn(credential)) return undefined;
    throw new Problem('FORBIDDEN', 'Send the present password as `current`, or sign in again first.');
  }
}

function personOf({ principal }: Caller): UserPrincipal {
  if (principal.kind !== 'user') throw new Problem('FORBIDDEN', 'Only people have passwords.');
  return principal;
}
