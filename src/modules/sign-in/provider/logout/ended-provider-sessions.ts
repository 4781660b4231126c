import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../../../platform/database/transaction/unit-of-work.js';
import type { SessionRef } from '../../ports/sessions.js';
import { SpentOnceStore } from '../../ports/spent-once.store.js';
import type { LogoutToken } from './logout-token.js';
import { ProviderSessionsQuery } from './provider-sessions.query.js';

/** Longer than somebody is on their way from the provider's token endpoint to a session here, by far. */
const KEPT_MS = 600_000;

/**
 * Sessions of the provider's that it has ended lately: a sign-in that was under way then rests on one that is over, and begins none
 * here. A logout that comes first is found by the sign-in, one that comes later finds the session.
 */
@Injectable()
export class EndedProviderSessions {
  constructor(
    private readonly spent: SpentOnceStore,
    private readonly found: ProviderSessionsQuery,
    private readonly work: UnitOfWork,
  ) {}

  /** Our sessions that rest on what the provider has ended. That it has is committed before they are looked for. */
  async endedBy(logout: LogoutToken): Promise<SessionRef[]> {
    const { issuer, sid } = logout;
    if (sid !== undefined) await this.work.run({ chains: [], leavesFacts: true }, (tx) => this.note(tx, valueOf(issuer, sid)));
    return this.found.of(logout);
  }

  /** For work that begins a session, under its heads: the answer stays true until that work has ended. */
  async has(tx: Tx, issuer: string, sid: string): Promise<boolean> {
    const value = valueOf(issuer, sid);
    await this.spent.lock(tx, 'provider-session', value);
    return (await this.spent.knownUntil(tx, 'provider-session', value)) !== undefined;
  }

  private async note(tx: Tx, value: string): Promise<void> {
    await this.spent.lock(tx, 'provider-session', value);
    await this.spent.note(tx, 'provider-session', value, new Date((await tx.now()).getTime() + KEPT_MS));
  }
}

const valueOf = (issuer: string, sid: string) => JSON.stringify([issuer, sid]);
