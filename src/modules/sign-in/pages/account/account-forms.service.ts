import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { recordsNothing } from '../../../../platform/auth/access/call-context.js';
import type { Caller } from '../../../../platform/auth/access/principal.js';
import { formFields } from '../../../../platform/http/request/form-fields.js';
import { Problem } from '../../../../platform/http/reply/problem.js';
import { invalid } from '../../../../platform/http/fields/read-members.js';
import type { Reply } from '../../../../platform/http/reply/replies.js';
import { OwnPasskeys } from '../../passkeys/own/own-passkeys.service.js';
import { personOf } from '../../passkeys/own-account.js';
import { ChangePasswordService } from '../../passwords/change-password.service.js';
import { isRecentSignIn } from '../../../../platform/auth/credentials/recent-sign-in.js';
import { SignInForm } from '../../ports/sign-in-form.js';
import { OwnSessionsService } from '../../sessions/own-sessions.service.js';
import { AccountPages } from './account-pages.service.js';
import { providerLogoutPage } from '../provider-logout-page.js';
import { type Done, refusalFrom } from '../notes.js';
import { pageReply, seeOther } from '../page-reply.js';

const PASSWORD_MAX = 1_024;
const NOT_FRESH = 'You signed in a while ago: type your present password too, or sign out and in again.';

/** What the forms of somebody who is signed in do: as the API does it, and back to the page. */
@Injectable()
export class AccountForms {
  constructor(
    private readonly form: SignInForm,
    private readonly sessions: OwnSessionsService,
    private readonly passkeys: OwnPasskeys,
    private readonly passwords: ChangePasswordService,
    private readonly account: AccountPages,
  ) {}

  /** Where the provider has a page that ends its own session too, the browser goes there by a page of ours: no form leads abroad. */
  async signOut(request: Request, caller: Caller): Promise<Reply<string | undefined>> {
    this.fields(request, caller);
    const { body: { endSessionUrl }, headers } = await this.sessions.signOut(caller);
    if (endSessionUrl === null) return seeOther('/sign-in?done=signed-out', headers);
    const page = { title: 'Signed out', main: providerLogoutPage(endSessionUrl) };
    return pageReply(200, page, { ...headers, Refresh: `0; url=${endSessionUrl}` });
  }

  async endSession(request: Request, id: string, caller: Caller): Promise<Reply<undefined>> {
    this.fields(request, caller);
    const { headers } = await this.sessions.revoke(id, caller);
    return seeOther(doneAt('session-ended'), headers);
  }

  removePasskey(request: Request, response: Response, id: string, caller: Caller): Promise<Reply<string | undefined>> {
    this.fields(request, caller);
    return this.orShown(request, response, caller, 'passkey-removed', () => this.passkeys.remove(id, caller));
  }

  setPassword(request: Request, response: Response, caller: Caller): Promise<Reply<string | undefined>> {
    const { password, current } = this.fields(request, caller);
    if (password === undefined) throw invalid([{ pointer: '/password', message: 'must be given' }]);
    const wanted = {
      password: password.slice(0, PASSWORD_MAX), ...(current === undefined ? {} : { current: current.slice(0, PASSWORD_MAX) }),
    };
    return this.orShown(request, response, caller, 'password-set', async () => {
      if (current === undefined && !isRecentSignIn(personOf(caller).credential)) throw new Problem('FORBIDDEN', NOT_FRESH);
      await this.passwords.change(wanted, caller);
    });
  }

  /**
   * A browser sends its cookie along with anybody's form; whoever shows a key in a header has meant to.
   *
   * @throws Problem FORBIDDEN for a form that was not shown in this session
   */
  private fields(request: Request, caller: Caller): Readonly<Record<string, string>> {
    const fields = formFields(request);
    if (personOf(caller).credential.kind === 'session') this.form.assertOurs(request, fields);
    return fields;
  }

  private async orShown(
    request: Request, response: Response, caller: Caller, done: Done, act: () => Promise<unknown>,
  ): Promise<Reply<string | undefined>> {
    try {
      await act();
    } catch (error) {
      const refusal = refusalFrom(error);
      recordsNothing();
      return this.account.show(request, response, caller, { refusal });
    }
    return seeOther(doneAt(done));
  }
}

const doneAt = (done: Done): string => `/sign-in?done=${done}`;
