import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ACCESS, type AccessKey, type Permission } from '../../../domain/access/access.js';
import { isFormRoute, isSameSiteRoute, openPage } from '../../http/request/browser-routes.js';
import { AddressLimit } from '../../rate-limit/address-limit.js';
import { PrincipalLimit } from '../../rate-limit/principal-limit.js';
import { ACCESS_KEY, type AuthenticatedRequest } from './access.decorator.js';
import { AuthJournal } from '../failures/auth-journal.js';
import { assertAllowed } from './assert-allowed.js';
import { BrowserCalls } from './browser-calls.js';
import { actAs } from './call-context.js';
import { Identification } from '../credentials/identification.js';
import type { Caller } from './principal.js';

/**
 * Guards all routes, which are closed by default: it is global, so that no path spelling and no forgotten decorator opens one. It verifies
 * who calls, counts the call, then looks the route's key up in the access table. Browsers send cookies with calls of any site, so a call
 * that comes by a session and changes something must come from a page of ours.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly identification: Identification,
    private readonly browsers: BrowserCalls,
    private readonly journal: AuthJournal,
    private readonly addresses: AddressLimit,
    private readonly principals: PrincipalLimit,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const key = this.reflector.get<AccessKey | undefined>(ACCESS_KEY, context.getHandler());
    if (key === undefined) throw new Error(`${context.getClass().name}.${context.getHandler().name} declares no access`);
    const permission: Permission = ACCESS[key];
    openPage(this.reflector, context);
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    if (permission.who.anonymous) {
      // The call counts against its address even with a credential, since nobody verifies that one here.
      await this.addresses.take(request);
      if (isSameSiteRoute(this.reflector, context)) this.assertSameSite(context, permission);
      return true;
    }
    const caller = await this.identification.identify(request, permission);
    request.caller = caller;
    actAs(caller);
    // Before anything is written and before the table refuses, so that calls beyond the limit do not fill the log either.
    if (this.principals.on) await this.principals.canActivate(context);
    if (isSession(caller)) this.assertSameSite(context, permission);
    if (caller.principal.kind === 'root') await this.journal.rootKeyUsed(request);
    assertAllowed(key, caller);
    return true;
  }

  /** @throws Problem FORBIDDEN */
  private assertSameSite(context: ExecutionContext, { changes }: Permission): void {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    this.browsers.assertSameSite(request, { changes, takesForm: isFormRoute(this.reflector, context) });
  }
}

function isSession({ principal }: Caller): boolean {
  return principal.kind === 'user' && principal.credential.kind === 'session';
}
