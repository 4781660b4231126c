import { Inject, Injectable } from '@nestjs/common';
import { organizationChain } from '../../../domain/audit/entry/chain.js';
import { newId } from '../../../domain/ids.js';
import { type CookieNames, cookieNames, setCookie } from '../../../platform/auth/credentials/cookies.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import type { UserRef } from '../../organizations/users/user.store.js';
import { type BegunSession, type SessionEndReason, type SessionRef, Sessions, type SessionStart } from '../ports/sessions.js';
import { EndSessions } from './ending/end-sessions.js';
import { hashProviderSid, hashSessionToken, makeSessionToken } from './session-token.js';
import { SealedProviderTokens } from './sealed-provider-tokens.js';
import { SessionStore } from './session.store.js';

/** Of one account at a time. Who comes in once more ends the one that was used longest ago: so few end with an account at once. */
export const MAX_OPEN = 100;
const AGENT_MAX = 300;

type SessionConfig = Pick<CompleteConfig, 'appUrl' | 'sessionIdle' | 'sessionMax'>;

/** Sessions of people, as rows; the browser's cookie holds the token whose digest finds them. */
@Injectable()
export class PeopleSessions extends Sessions {
  private readonly names: CookieNames;

  constructor(
    private readonly sessions: SessionStore,
    private readonly ends: EndSessions,
    private readonly tokens: SealedProviderTokens,
    @Inject(CONFIG) private readonly config: SessionConfig,
  ) {
    super();
    this.names = cookieNames(config.appUrl);
  }

  /** @throws Problem CONFLICT for an account that is closed */
  async begin(tx: Tx, user: UserRef, { method, agent, address, provider }: SessionStart): Promise<BegunSession> {
    const { organizationId } = user;
    const id = newId('sess');
    const token = makeSessionToken();
    await this.end(tx, await this.sessions.openOf(tx, user, MAX_OPEN - 1), 'replaced', user.id);
    const isBegun = await this.sessions.insert(tx, {
      organizationId,
      id,
      userId: user.id,
      tokenHash: hashSessionToken(token),
      method,
      idle: this.config.sessionIdle,
      max: this.config.sessionMax,
      agent: agent?.slice(0, AGENT_MAX) ?? null,
      address: address ?? null,
      issuer: provider?.issuer ?? null,
      providerSid: provider?.sid === undefined ? null : hashProviderSid(provider.issuer, provider.sid),
      providerTokens: provider === undefined ? null : this.tokens.seal(id, provider.tokens),
      renewAt: provider?.renewAt ?? null,
    });
    if (!isBegun) throw new Problem('CONFLICT', 'The account is closed.');
    tx.record(
      organizationChain(organizationId),
      { type: 'auth.login', metadata: { sessionId: id, method, ...(provider === undefined ? {} : { issuer: provider.issuer }) } },
      { actorId: user.id },
    );
    const { session, secure } = this.names;
    return { id, cookie: setCookie(session, token, { seconds: this.config.sessionMax, secure }) };
  }

  end(tx: Tx, sessions: readonly SessionRef[], reason: SessionEndReason, by: string): Promise<number> {
    return this.ends.end(tx, sessions, reason, by);
  }
}
