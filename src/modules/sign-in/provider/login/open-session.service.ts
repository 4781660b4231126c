import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { organizationChain } from '../../../../domain/audit/entry/chain.js';
import { addressOf } from '../../../../platform/auth/access/call-context.js';
import { Identification } from '../../../../platform/auth/credentials/identification.js';
import type { Tx } from '../../../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../../platform/http/reply/problem.js';
import { UserStore } from '../../../organizations/users/user.store.js';
import type { ProviderGrant } from '../../ports/provider-client.js';
import { Sessions, type BegunSession, type SessionRef, type SessionStart } from '../../ports/sessions.js';
import { accountProblem } from '../accounts/account-refusals.js';
import type { Returned } from './callback.service.js';
import { EndedProviderSessions } from '../logout/ended-provider-sessions.js';
import { renewalIn } from '../renewal/renewal-schedule.js';

/** Lets in whom the provider has vouched for. */
@Injectable()
export class OpenSessionService {
  constructor(
    private readonly sessions: Sessions,
    private readonly users: UserStore,
    private readonly ended: EndedProviderSessions,
    private readonly identification: Identification,
    private readonly work: UnitOfWork,
  ) {}

  /**
   * The account is read again under its organization's head, so that one that is closed meanwhile is closed. A session that the browser
   * had before ends: nobody is left with two.
   *
   * @throws Problem UNAUTHENTICATED once the account is closed, or the provider has ended its session
   */
  async open(request: Request, { issuer, grant, person }: Returned): Promise<BegunSession> {
    const { organizationId, userId: id } = person;
    const before = await this.sessionBefore(request);
    const organizations = new Set([organizationId, ...(before === undefined ? [] : [before.organizationId])]);
    return this.work.run({ chains: [...organizations].map(organizationChain), leavesFacts: true }, async (tx) => {
      const user = await this.users.read(tx, { organizationId, id });
      if (user.status !== 'active') throw accountProblem({ refused: 'closed' });
      if (grant.sid !== undefined && (await this.ended.has(tx, issuer, grant.sid))) {
        throw new Problem('UNAUTHENTICATED', 'The identity provider has ended this sign-in. Sign in again.');
      }
      if (before !== undefined) await this.sessions.end(tx, [before], 'replaced', id);
      return this.sessions.begin(tx, { organizationId, id }, await startOf(tx, request, issuer, grant));
    });
  }

  private async sessionBefore(request: Request): Promise<SessionRef | undefined> {
    const principal = (await this.identification.sessionOf(request))?.principal;
    if (principal?.kind !== 'user' || principal.credential.kind !== 'session') return undefined;
    return { organizationId: principal.organizationId, id: principal.credential.id };
  }
}

async function startOf(tx: Tx, request: Request, issuer: string, grant: ProviderGrant): Promise<SessionStart> {
  const { accessToken, refreshToken, idToken, expiresIn, sid } = grant;
  const renewAt = refreshToken === undefined ? undefined : new Date((await tx.now()).getTime() + renewalIn(expiresIn) * 1_000);
  return {
    method: 'provider',
    agent: request.headers['user-agent'],
    address: addressOf(request),
    provider: {
      issuer,
      tokens: { accessToken, idToken, ...(refreshToken === undefined ? {} : { refreshToken }) },
      ...(sid === undefined ? {} : { sid }),
      ...(renewAt === undefined ? {} : { renewAt }),
    },
  };
}
