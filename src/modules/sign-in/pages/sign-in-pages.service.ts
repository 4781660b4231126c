import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { EMAIL_ADDRESS, EMAIL_ADDRESS_MAX } from '../../../domain/access/person.js';
import { returnPath } from '../../../domain/access/return-path.js';
import { Identification } from '../../../platform/auth/credentials/identification.js';
import { formFields } from '../../../platform/http/request/form-fields.js';
import type { Reply } from '../../../platform/http/reply/replies.js';
import { SessionIssuer } from '../ports/session-issuer.js';
import { type PasswordAnswer, SignInByPassword } from '../passwords/sign-in-by-password.js';
import { SignInForm } from '../ports/sign-in-form.js';
import { AccountPages } from './account/account-pages.service.js';
import { doneNote, refusalFrom } from './notes.js';
import { SignInMethods } from './sign-in-methods.js';
import { pageReply, SCRIPTS, seeOther } from './page-reply.js';
import { signInPage, type SignInView } from './sign-in-page.js';

const PASSWORD_MAX = 1_024;
const ORGANIZATION_NAME = /^[^\p{C}]{1,200}$/u;
const WRONG = 'The address or the password is not right.';

/** The page that everybody comes to: to sign in, or to see who they are. */
@Injectable()
export class SignInPages {
  constructor(
    private readonly identification: Identification,
    private readonly account: AccountPages,
    private readonly form: SignInForm,
    private readonly offers: SignInMethods,
    private readonly sessionIssuer: SessionIssuer,
    private readonly passwords: SignInByPassword,
  ) {}

  async show(request: Request, response: Response): Promise<Reply<string>> {
    const { done, returnTo } = request.query;
    const note = doneNote(done);
    const caller = await this.identification.sessionOf(request);
    if (caller !== undefined) return this.account.show(request, response, caller, { note, returnTo });
    return this.page(request, response, 200, { returnTo: returnPath(returnTo), note });
  }

  /** @throws Problem FORBIDDEN for a form that this browser was not shown; NOT_FOUND beside an identity provider */
  async comeIn(request: Request, response: Response): Promise<Reply<string | undefined>> {
    const fields = formFields(request);
    this.form.assertOurs(request, fields);
    const { email = '', password = '', returnTo } = fields;
    const organization = fields['organization']?.trim() || undefined;
    const known = { email, organization, returnTo: returnPath(returnTo) };
    let answer: PasswordAnswer;
    try {
      answer = await this.judge(request, email, password, organization);
    } catch (error) {
      const { status, note, headers } = refusalFrom(error);
      return this.page(request, response, status, { ...known, note }, headers);
    }
    if (answer.kind === 'wrong') return this.page(request, response, 401, { ...known, note: { tone: 'bad', text: WRONG } });
    if (answer.kind === 'choose') return this.page(request, response, 200, { ...known, organizations: answer.organizations });
    response.append('Set-Cookie', answer.session.cookie);
    return seeOther(known.returnTo);
  }

  /** What no account can have is judged like any other that is wrong, as far as it can be asked about. */
  private async judge(request: Request, email: string, password: string, organization: string | undefined): Promise<PasswordAnswer> {
    const isAddress = email.length <= EMAIL_ADDRESS_MAX && EMAIL_ADDRESS.test(email);
    const isChoice = organization === undefined || ORGANIZATION_NAME.test(organization);
    const wanted = {
      email: isAddress && isChoice ? email : 'nobody@invalid', password: password.slice(0, PASSWORD_MAX),
      organization: isChoice ? organization : undefined,
    };
    return this.passwords.signIn(wanted, await this.sessionIssuer.of(request));
  }

  private page(
    request: Request, response: Response, status: number, view: Omit<SignInView, 'formToken' | 'provider' | 'hasPasskeys'>,
    headers: Readonly<Record<string, string>> = {},
  ): Reply<string> {
    const { provider, hasPasskeys } = this.offers;
    const main = signInPage({ ...view, provider, hasPasskeys, formToken: this.form.open(request, response) });
    return pageReply(status, { title: 'Sign in', main, scripts: SCRIPTS }, headers);
  }
}
