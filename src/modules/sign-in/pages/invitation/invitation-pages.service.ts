import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { SIGN_IN_PATH } from '../../../../domain/access/return-path.js';
import { recordsNothing } from '../../../../platform/auth/access/call-context.js';
import { formFields } from '../../../../platform/http/request/form-fields.js';
import type { Reply } from '../../../../platform/http/reply/replies.js';
import { AcceptInvitation } from '../../invitations/accept-invitation.js';
import { SessionIssuer } from '../../ports/session-issuer.js';
import type { SignedIn } from '../../ports/sign-in-context.js';
import { SignInForm } from '../../ports/sign-in-form.js';
import { invitationPage } from './invitation-page.js';
import { type Refusal, refusalFrom } from '../notes.js';
import { SignInMethods } from '../sign-in-methods.js';
import { pageReply, SCRIPTS, seeOther } from '../page-reply.js';

const PASSWORD_MAX = 1_024;

/** The page behind an invitation's link. */
@Injectable()
export class InvitationPages {
  constructor(
    private readonly invitations: AcceptInvitation,
    private readonly form: SignInForm,
    private readonly offers: SignInMethods,
    private readonly sessionIssuer: SessionIssuer,
  ) {}

  /** @throws Problem NOT_FOUND for a link that never was, or is good no more */
  async show(token: string, request: Request, response: Response, refusal?: Refusal): Promise<Reply<string>> {
    const { organizationName, email, role, expiresAt } = await this.invitations.look(token);
    const { provider, hasPasskeys } = this.offers;
    const main = invitationPage({
      token, email, role, expiresAt, provider, hasPasskeys, organization: organizationName, note: refusal?.note,
      formToken: this.form.open(request, response),
    });
    return pageReply(refusal?.status ?? 200, { title: 'Invitation', main, scripts: SCRIPTS }, refusal?.headers);
  }

  async accept(token: string, request: Request, response: Response): Promise<Reply<string | undefined>> {
    const fields = formFields(request);
    this.form.assertOurs(request, fields);
    let signedIn: SignedIn;
    try {
      const password = (fields['password'] ?? '').slice(0, PASSWORD_MAX);
      signedIn = await this.invitations.byPassword(token, password, await this.sessionIssuer.of(request));
    } catch (error) {
      const refusal = refusalFrom(error);
      recordsNothing();
      return this.show(token, request, response, refusal);
    }
    response.append('Set-Cookie', signedIn.session.cookie);
    return seeOther(SIGN_IN_PATH);
  }
}
