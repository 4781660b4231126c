import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { returnPath, SIGN_IN_PATH } from '../../../../domain/access/return-path.js';
import type { Caller } from '../../../../platform/auth/access/principal.js';
import type { Reply } from '../../../../platform/http/reply/replies.js';
import { personOf } from '../../passkeys/own-account.js';
import { PasskeysQuery } from '../../passkeys/passkeys.query.js';
import { isRecentSignIn } from '../../../../platform/auth/credentials/recent-sign-in.js';
import { SignInForm } from '../../ports/sign-in-form.js';
import { WhoAmIService } from '../../sessions/who-am-i.service.js';
import { accountPage, type LocalWays, type ShownSession } from './account-page.js';
import { LocalWaysQuery } from './local-ways.query.js';
import type { Refusal } from '../notes.js';
import { SignInMethods } from '../sign-in-methods.js';
import { pageReply, SCRIPTS } from '../page-reply.js';
import type { Note } from '../form-parts.js';

/** More than anybody looks through; the oldest of more end by themselves. */
const SESSIONS_SHOWN = 50;

export interface AccountExtras {
  readonly note?: Note | undefined;
  readonly refusal?: Refusal | undefined;
  readonly returnTo?: unknown;
}

/** The page of somebody who is signed in. */
@Injectable()
export class AccountPages {
  constructor(
    private readonly who: WhoAmIService,
    private readonly passkeys: PasskeysQuery,
    private readonly ways: LocalWaysQuery,
    private readonly form: SignInForm,
    private readonly offers: SignInMethods,
  ) {}

  async show(
    request: Request, response: Response, caller: Caller, { note, refusal, returnTo }: AccountExtras = {},
  ): Promise<Reply<string>> {
    const [{ user, role, organization }, sessions, local] = await Promise.all([
      this.who.person(personOf(caller), caller.scope), this.sessionsOf(caller), this.localWays(caller),
    ]);
    const goOn = returnPath(returnTo);
    const { name, email } = user;
    const main = accountPage({
      formToken: this.form.open(request, response), name, email, role, organization: organization.name, sessions, local,
      goOn: goOn === SIGN_IN_PATH ? undefined : goOn, note: refusal?.note ?? note,
    });
    return pageReply(refusal?.status ?? 200, { title: 'Your account', main, scripts: SCRIPTS, isWide: true }, refusal?.headers);
  }

  private async sessionsOf(caller: Caller): Promise<ShownSession[]> {
    const { sessions } = await this.who.list(caller, { limit: SESSIONS_SHOWN, offset: 0 });
    return sessions.map(({ id, method, lastUsedAt, userAgent, address, current }) => ({
      id, method, userAgent, address, isThis: current, lastUsedAt: new Date(lastUsedAt),
    }));
  }

  private async localWays(caller: Caller): Promise<LocalWays | undefined> {
    if (this.offers.provider !== undefined) return undefined;
    const { userId, credential } = personOf(caller);
    const [passkeys, hasPassword] = await Promise.all([
      this.passkeys.list(caller.scope, userId), this.ways.hasPassword(caller.scope, userId),
    ]);
    return { passkeys, hasPassword, canAddPasskeys: this.offers.hasPasskeys, isFresh: isRecentSignIn(credential) };
  }
}
