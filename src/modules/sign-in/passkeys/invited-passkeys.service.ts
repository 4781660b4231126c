import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { SIGN_IN_PATH } from '../../../domain/access/return-path.js';
import { newId } from '../../../domain/ids.js';
import { recordsNothing } from '../../../platform/auth/access/call-context.js';
import { scopeOfOrganization } from '../../../platform/auth/access/scope.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { UsersQuery } from '../../organizations/users/users.query.js';
import { AcceptInvitation } from '../invitations/accept-invitation.js';
import { SessionIssuer } from '../ports/session-issuer.js';
import { KeepPasskey, noPasskey } from './keep-passkey.js';
import { PasskeyProofs } from './webauthn/passkey-proofs.js';
import type { InvitedPasskeyDto } from './passkeys.dto.js';
import { type PasskeySignInReply, presentArrived } from './passkeys.presenter.js';

/** Taking an invitation with a passkey. The account's id is chosen before the account is made, since the authenticator needs it. */
@Injectable()
export class InvitedPasskeys {
  constructor(
    private readonly proofs: PasskeyProofs,
    private readonly invitations: AcceptInvitation,
    private readonly sessionIssuer: SessionIssuer,
    private readonly keeping: KeepPasskey,
    private readonly users: UsersQuery,
  ) {}

  async options(token: string, request: Request, response: Response) {
    recordsNothing();
    this.proofs.assertOffered();
    const { userId, email, name } = await this.invitations.look(token);
    return this.proofs.askToMake(request, response, 'invitation', { userId: userId ?? newId('usr'), email, name }, []);
  }

  async accept(token: string, request: Request, response: Response, { response: answer }: InvitedPasskeyDto): Promise<PasskeySignInReply> {
    const { userId: invited } = await this.invitations.look(token);
    const made = await this.proofs.made(request, 'invitation', answer);
    if (made === undefined || (invited !== null && invited !== made.userId)) throw noPasskey();
    const { user: { organizationId, id }, session } = await this.invitations.by(token, {
      method: 'passkey', userId: made.userId,
      keep: async (tx, user) => {
        if (user.id !== made.userId) throw noPasskey();
        await this.keeping.keep(tx, user, made, request.headers['user-agent']);
      },
    }, await this.sessionIssuer.of(request));
    response.append('Set-Cookie', session.cookie);
    const user = await this.users.find(scopeOfOrganization(organizationId), id);
    if (user === undefined) throw new Problem('NOT_FOUND', 'There is no such user.');
    return presentArrived(user, SIGN_IN_PATH);
  }
}
