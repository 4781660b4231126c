import { randomBytes, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { presentedCredentials } from '../../../platform/auth/credentials/bearer.js';
import { type CookieNames, cookieNames, cookieValue, setCookie } from '../../../platform/auth/credentials/cookies.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { SealedBox } from '../../../platform/secrets/sealed-box.js';

const BROWSER_BYTES = 16;
const BROWSER = /^[A-Za-z0-9_-]{22}$/;
const DAY_SECONDS = 86_400;

/** The field of a form that holds its token. */
export const FORM_TOKEN = 'formToken';

/**
 * Tokens of our forms: a form that comes back must be one that this very browser was shown, in the session that it was shown in. The
 * token is a mark over the session's cookie, or over a cookie of the form's own before there is a session, so nothing is stored.
 */
@Injectable()
export class SignInForm {
  private readonly names: CookieNames;

  constructor(
    private readonly box: SealedBox,
    @Inject(CONFIG) config: Pick<CompleteConfig, 'appUrl'>,
  ) {
    this.names = cookieNames(config.appUrl);
  }

  /** For a page with forms: their token. A browser that comes for the first time is given a cookie. */
  open(request: Request, response: Response): string {
    return this.tokenOf(this.knownAs(request, response));
  }

  /** What the browser is known by, from now on where it comes for the first time. */
  knownAs(request: Request, response: Response): string {
    const known = this.browserOf(request);
    if (known !== undefined) return known;
    const browser = randomBytes(BROWSER_BYTES).toString('base64url');
    response.append('Set-Cookie', setCookie(this.names.form, browser, { seconds: DAY_SECONDS, secure: this.names.secure }));
    return `form ${browser}`;
  }

  /** @throws Problem FORBIDDEN for a form that this browser was not shown */
  assertOurs(request: Request, fields: Readonly<Record<string, string>>): void {
    const browser = this.browserOf(request);
    const shown = Buffer.from(fields[FORM_TOKEN] ?? '');
    const wanted = Buffer.from(browser === undefined ? '' : this.tokenOf(browser));
    if (wanted.length > 0 && shown.length === wanted.length && timingSafeEqual(shown, wanted)) return;
    throw new Problem('FORBIDDEN', 'The form is not from this browser, or from before you signed in or out. Open the page again.');
  }

  /** What the browser is known by, session or not: a challenge that it is given holds for it alone. */
  browserOf(request: Request): string | undefined {
    const { session } = presentedCredentials(request);
    if (session !== undefined && session !== '') return `session ${session}`;
    const cookie = cookieValue(request.headers.cookie, this.names.form);
    return cookie === undefined || cookie === 'repeated' || !BROWSER.test(cookie.value) ? undefined : `form ${cookie.value}`;
  }

  private tokenOf(browser: string): string {
    return this.box.mac('forms', browser);
  }
}
