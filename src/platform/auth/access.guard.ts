import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ACCESS, type AccessKey, type Permission, reachOf } from '../../domain/access/access.js';
import { Problem } from '../http/problem.js';
import { requestContext } from '../http/request-context.js';
import { StatementsOnPool } from '../database/statements-on-pool.js';
import { AddressLimit } from '../rate-limit/address-limit.js';
import { PrincipalLimit } from '../rate-limit/principal-limit.js';
import { ACCESS_KEY, type AuthenticatedRequest } from './access.decorator.js';
import { AuthJournal } from './auth-journal.js';
import { shownCredentials } from './bearer.js';
import { CredentialSources } from './credential-source.js';
import { type Caller, kindOf } from './principal.js';

/**
 * The one door, locked by default: global, so that no path spelling and no forgotten decorator opens a route. Verifies
 * who calls, counts the call, then looks the route's key up in the access table.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    @Inject(CredentialSources) private readonly sources: CredentialSources,
    private readonly pool: StatementsOnPool,
    private readonly journal: AuthJournal,
    private readonly addresses: AddressLimit,
    private readonly principals: PrincipalLimit,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const key = this.reflector.get<AccessKey | undefined>(ACCESS_KEY, context.getHandler());
    if (key === undefined) throw new Error(`${context.getClass().name}.${context.getHandler().name} declares no access`);
    const permission: Permission = ACCESS[key];
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    if (permission.who.anonymous) {
      // Nobody looks at a credential here, so showing one must not be a way around.
      await this.addresses.take(request);
      return true;
    }
    const caller = await this.identify(request, permission);
    request.caller = caller;
    const store = requestContext.getStore();
    if (store) {
      store.caller = caller;
      store.actorId = caller.actorId;
    }
    // Before anything is written and before the table refuses: whoever calls too often must not fill the log either.
    if (this.principals.on) await this.principals.canActivate(context);
    if (caller.principal.kind === 'root') await this.journal.rootKeyUsed(request);
    const kind = kindOf(caller.principal);
    if (kind === 'system' || reachOf(key, kind) === 'denied') {
      throw new Problem('FORBIDDEN', `${named(caller)} may not ${permission.doc}.`);
    }
    return true;
  }

  /** @throws Problem UNAUTHENTICATED, AGENT_INACTIVE for a genuine token of an agent that is out of service, RATE_LIMITED */
  private async identify(request: AuthenticatedRequest, { hot, late }: Permission): Promise<Caller> {
    const shown = shownCredentials(request);
    if (shown.malformed !== undefined) return this.refuse(request, shown.malformed);
    let caller: Caller | undefined;
    let isFresh = false;
    for (const source of this.sources.all()) {
      const asked = source.present(shown, { late: late === true });
      // Most sources answer at once; awaiting them would cost a turn of the event loop for each.
      const presented = asked instanceof Promise ? await asked : asked;
      if (presented.kind === 'invalid') return this.refuse(request, presented.reason);
      if (presented.kind === 'absent') continue;
      if (caller) return this.refuse(request, 'two credentials name different principals');
      caller = presented.caller;
      isFresh = presented.fresh === true;
    }
    if (!caller) {
      if (shown.bearer !== undefined || shown.apiKey !== undefined) return this.refuse(request, 'unknown credential');
      throw new Problem('UNAUTHENTICATED', 'Send a credential: "Authorization: Bearer <credential>".');
    }
    if (isFresh || (hot && caller.principal.kind === 'agent')) return caller;
    const reason = await this.sources.of(caller.principal.kind)!.stillHolds(caller.principal, this.pool.run);
    return reason === undefined ? caller : this.refuse(request, reason);
  }

  private async refuse(request: AuthenticatedRequest, reason: string): Promise<never> {
    await this.addresses.take(request);
    await this.journal.failed(request, reason);
    throw new Problem('UNAUTHENTICATED', `This credential does not hold: ${reason}.`);
  }
}

function named({ principal }: Caller): string {
  if (principal.kind === 'user') return `The role ${principal.role}`;
  return principal.kind === 'agent' ? 'An agent' : `This credential (${principal.kind})`;
}
