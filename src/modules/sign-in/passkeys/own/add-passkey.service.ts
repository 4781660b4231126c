import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { organizationChain } from '../../../../domain/audit/entry/chain.js';
import { recordsNothing } from '../../../../platform/auth/access/call-context.js';
import type { Caller } from '../../../../platform/auth/access/principal.js';
import { UnitOfWork } from '../../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../../platform/http/reply/problem.js';
import { invalid } from '../../../../platform/http/fields/read-members.js';
import type { Reply } from '../../../../platform/http/reply/replies.js';
import { UserStore } from '../../../organizations/users/user.store.js';
import { OwnPassword } from '../../passwords/own-password.js';
import { isRecentSignIn } from '../../../../platform/auth/credentials/recent-sign-in.js';
import { KeepPasskey, noPasskey } from '../keep-passkey.js';
import { personOf, userRefOf } from '../own-account.js';
import { PasskeyProofs } from '../webauthn/passkey-proofs.js';
import { PasskeyStore } from '../passkey.store.js';
import type { AddPasskeyDto, PasskeyOptionsDto } from '../passkeys.dto.js';
import { type PasskeyEnvelope, presentPasskey } from '../passkeys.presenter.js';

/** Adding a passkey to one's own account. */
@Injectable()
export class AddPasskey {
  constructor(
    private readonly work: UnitOfWork,
    private readonly proofs: PasskeyProofs,
    private readonly passkeys: PasskeyStore,
    private readonly keeping: KeepPasskey,
    private readonly users: UserStore,
    private readonly password: OwnPassword,
  ) {}

  /** That it is really the owner is asked here: what comes back answers a challenge that nobody else was given. */
  async options(request: Request, response: Response, caller: Caller, { current }: PasskeyOptionsDto) {
    recordsNothing();
    const ref = userRefOf(caller);
    this.proofs.assertOffered();
    await this.prove(caller, current);
    const user = await this.work.run({ chains: [organizationChain(ref.organizationId)], leavesFacts: true }, async (tx) => ({
      ...(await this.users.readActive(tx, ref)), there: await this.passkeys.credentialsOf(tx, ref),
    }));
    return this.proofs.askToMake(request, response, 'add', { userId: user.id, email: user.email, name: user.name }, user.there);
  }

  async add(request: Request, caller: Caller, { response, name }: AddPasskeyDto): Promise<Reply<PasskeyEnvelope>> {
    const ref = userRefOf(caller);
    const made = await this.proofs.made(request, 'add', response);
    if (made === undefined || made.userId !== ref.id) throw noPasskey();
    return this.work.run({ chains: [organizationChain(ref.organizationId)], leavesFacts: true }, async (tx) => {
      await this.users.readActive(tx, ref);
      const passkey = await this.keeping.keep(tx, ref, made, request.headers['user-agent'], name);
      return tx.reply(201, { passkey: presentPasskey({ ...passkey, lastUsedAt: null }) });
    });
  }

  private async prove(caller: Caller, current: string | undefined): Promise<void> {
    const { credential } = personOf(caller);
    if (current !== undefined) await this.password.prove(userRefOf(caller), current);
    else if (credential.kind !== 'session') throw invalid([{ pointer: '/current', message: 'must be the present password' }]);
    else if (!isRecentSignIn(credential)) throw new Problem('FORBIDDEN', 'Send the present password as `current`, or sign in again first.');
  }
}
