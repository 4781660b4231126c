import { Inject, Injectable } from '@nestjs/common';
import { organizationChain } from '../../../domain/audit/entry/chain.js';
import { recordsNothing } from '../../../platform/auth/access/call-context.js';
import { clearCookie, cookieNames } from '../../../platform/auth/credentials/cookies.js';
import type { Caller, UserPrincipal } from '../../../platform/auth/access/principal.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { type Reply, reply } from '../../../platform/http/reply/replies.js';
import { ProviderLogout } from '../ports/provider-logout.js';
import { type ProviderTokens, type SessionEndReason } from '../ports/sessions.js';
import { EndSessions } from './ending/end-sessions.js';
import { SessionStore } from './session.store.js';
import { SealedProviderTokens } from './sealed-provider-tokens.js';
import type { SignedOutReply } from './sessions.presenter.js';

/** The ends that people make themselves: of the session that they are in, and of their others. */
@Injectable()
export class OwnSessionsService {
  private readonly cookieGone: Readonly<Record<string, string>>;

  constructor(
    private readonly work: UnitOfWork,
    private readonly sessions: SessionStore,
    private readonly ends: EndSessions,
    private readonly tokens: SealedProviderTokens,
    private readonly provider: ProviderLogout,
    @Inject(CONFIG) config: Pick<CompleteConfig, 'appUrl'>,
  ) {
    const { session, secure } = cookieNames(config.appUrl);
    this.cookieGone = { 'Set-Cookie': clearCookie(session, secure) };
  }

  /** Signs out at both ends. Whoever came by something else than a session has nothing to sign out of. */
  async signOut({ principal }: Caller): Promise<Reply<SignedOutReply>> {
    const person = personOf(principal);
    if (person.credential.kind !== 'session') {
      recordsNothing();
      return reply(200, { endSessionUrl: null });
    }
    const tokens = await this.endOne(person, person.credential.id, 'asked');
    return reply(200, { endSessionUrl: await this.provider.leave(tokens) }, this.cookieGone);
  }

  /** @throws Problem NOT_FOUND for one that is another's, or has ended already */
  async revoke(sessionId: string, { principal }: Caller): Promise<Reply<undefined>> {
    const person = personOf(principal);
    const tokens = await this.endOne(person, sessionId, 'revoked');
    await this.provider.leave(tokens);
    const isOwn = person.credential.kind === 'session' && person.credential.id === sessionId;
    return reply(204, undefined, isOwn ? this.cookieGone : {});
  }

  /** Answers once nothing commits any more that the session had begun. @returns what the provider gave for it */
  private async endOne(person: UserPrincipal, id: string, reason: SessionEndReason): Promise<ProviderTokens | undefined> {
    const { organizationId, userId } = person;
    const sealed = await this.work.run({ chains: [organizationChain(organizationId)], leavesFacts: true }, async (tx) => {
      const session = await this.sessions.readOpen(tx, { organizationId, id });
      if (session?.userId !== userId) throw new Problem('NOT_FOUND', 'There is no such session.');
      await this.ends.end(tx, [session], reason, userId);
      return session.providerTokens;
    });
    await this.sessions.passEnded(organizationId);
    return sealed === null ? undefined : this.tokens.open(id, sealed);
  }
}

/** @throws Problem FORBIDDEN for who is no person: the access table lets none of them here */
export function personOf(principal: Caller['principal']): UserPrincipal {
  if (principal.kind !== 'user') throw new Problem('FORBIDDEN', 'Only people sign in and out.');
  return principal;
}
