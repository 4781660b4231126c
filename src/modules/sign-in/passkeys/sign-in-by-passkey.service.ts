import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { returnPath } from '../../../domain/access/return-path.js';
import { AuthJournal } from '../../../platform/auth/failures/auth-journal.js';
import { recordsNothing } from '../../../platform/auth/access/call-context.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { UserStore } from '../../organizations/users/user.store.js';
import { SessionIssuer } from '../ports/session-issuer.js';
import { PasskeyProofs, type ProvenPasskey } from './webauthn/passkey-proofs.js';
import { PasskeyStore } from './passkey.store.js';
import { type PasskeySignInReply, presentArrived } from './passkeys.presenter.js';
import type { PasskeySignInDto } from './passkeys.dto.js';

/** Signing in by a passkey alone: the authenticator says whose it is, and has asked its owner for finger, face or number. */
@Injectable()
export class SignInByPasskey {
  constructor(
    private readonly work: UnitOfWork,
    private readonly proofs: PasskeyProofs,
    private readonly passkeys: PasskeyStore,
    private readonly users: UserStore,
    private readonly sessionIssuer: SessionIssuer,
    private readonly journal: AuthJournal,
  ) {}

  options(request: Request, response: Response) {
    recordsNothing();
    return this.proofs.ask(request, response);
  }

  /** @throws Problem UNAUTHENTICATED, in the same words for whatever does not hold */
  async comeIn(request: Request, response: Response, { response: answer, returnTo }: PasskeySignInDto): Promise<PasskeySignInReply> {
    const proven = await this.proofs.of(request, answer);
    if ('refused' in proven) return this.refuse(request, proven.refused);
    const signInContext = await this.sessionIssuer.of(request);
    const { ref } = proven;
    const arrived = await this.work.run(this.sessionIssuer.plan(ref.organizationId, signInContext), async (tx) => {
      const user = await this.users.read(tx, ref);
      if (user.status !== 'active') return { refused: 'passkey of a closed account' };
      const refused = await this.spend(tx, proven);
      if (refused !== undefined) return { refused };
      return { user, session: await this.sessionIssuer.letIn(tx, ref, 'passkey', signInContext) };
    });
    if (arrived.refused !== undefined) return this.refuse(request, arrived.refused);
    response.append('Set-Cookie', arrived.session.cookie);
    return presentArrived(arrived.user, returnPath(returnTo));
  }

  private async spend(tx: Parameters<PasskeyStore['use']>[0], proven: ProvenPasskey): Promise<string | undefined> {
    if (!(await this.proofs.spend(tx, proven))) return 'passkey answer used before';
    const { ref, credentialId, assertion } = proven;
    return (await this.passkeys.use(tx, ref, credentialId, assertion)) ? undefined : 'passkey counter';
  }

  private async refuse(request: Request, reason: string): Promise<never> {
    await this.journal.failed(request, reason);
    throw new Problem('UNAUTHENTICATED', 'Nobody can sign in by this passkey here, or the page has been open for too long. Try again.');
  }
}
