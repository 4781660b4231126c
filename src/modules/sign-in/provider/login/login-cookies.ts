import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  clearCookie, type CookieNames, cookieNames, cookiesNamed, cookieValue, setCookie,
} from '../../../../platform/auth/credentials/cookies.js';
import { CONFIG, type CompleteConfig } from '../../../../platform/config/config.js';
import { SealedBox } from '../../../../platform/secrets/sealed-box.js';
import type { LoginChecks } from '../../ports/provider-client.js';

/** How long somebody may take at the provider, in seconds. */
const LOGIN_SECONDS = 600;
/** Sign-ins that a browser may have under way: one in each of its tabs. At one more it forgets them all. */
const MOST_AT_ONCE = 4;
/** So much of the state names the cookie; it is in the address anyway. */
const NAMED_BY = 8;
const STATE = /^[A-Za-z0-9_-]{43}$/;

/** A sign-in that has set out for the provider. */
export interface LoginUnderWay {
  readonly checks: LoginChecks;
  readonly returnTo: string;
  readonly until: Date;
}

interface Sealed extends LoginChecks {
  readonly returnTo: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/**
 * Sign-ins under way are kept by the browser itself, each in a cookie that only we can read or make: who merely sets out for the
 * provider leaves nothing here, and what comes back is taken from the browser that set out and from no other.
 */
@Injectable()
export class LoginCookies {
  private readonly names: CookieNames;

  constructor(
    private readonly box: SealedBox,
    @Inject(CONFIG) config: Pick<CompleteConfig, 'appUrl'>,
  ) {
    this.names = cookieNames(config.appUrl);
  }

  give(request: Request, response: Response, checks: LoginChecks, returnTo: string): void {
    const { login: prefix, secure } = this.names;
    const before = cookiesNamed(request.headers.cookie, prefix);
    if (before.length >= MOST_AT_ONCE) for (const name of before) response.append('Set-Cookie', clearCookie(name, secure));
    const name = this.nameFor(checks.state);
    const login: Sealed = { ...checks, returnTo, until: Date.now() + LOGIN_SECONDS * 1_000 };
    const value = this.box.seal('sign-in', name, Buffer.from(JSON.stringify(login))).toString('base64url');
    response.append('Set-Cookie', setCookie(name, value, { seconds: LOGIN_SECONDS, secure }));
  }

  /**
   * Takes the sign-in with this state off the browser: whatever becomes of it, its cookie goes.
   *
   * @returns undefined where this browser has none under way, or none any more
   */
  take(request: Request, response: Response, state: string | undefined): LoginUnderWay | undefined {
    if (state === undefined || !STATE.test(state)) return undefined;
    const name = this.nameFor(state);
    const cookie = cookieValue(request.headers.cookie, name);
    if (cookie === undefined) return undefined;
    response.append('Set-Cookie', clearCookie(name, this.names.secure));
    const opened = cookie === 'repeated' ? undefined : this.box.open('sign-in', name, Buffer.from(cookie.value, 'base64url'));
    if (opened === undefined) return undefined;
    const { returnTo, until, ...checks } = JSON.parse(opened.toString('utf8')) as Sealed;
    return checks.state === state && until > Date.now() ? { checks, returnTo, until: new Date(until) } : undefined;
  }

  private nameFor(state: string): string {
    return `${this.names.login}${state.slice(0, NAMED_BY)}`;
  }
}
