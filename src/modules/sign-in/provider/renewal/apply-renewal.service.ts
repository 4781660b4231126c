import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { organizationChain } from '../../../../domain/audit/entry/chain.js';
import type { Tx } from '../../../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../../../platform/database/transaction/unit-of-work.js';
import { isPassing } from '../../../../platform/http/reply/failure.js';
import { ProviderClient, type ProviderRenewal } from '../../ports/provider-client.js';
import { type ProviderTokens, Sessions } from '../../ports/sessions.js';
import { SealedProviderTokens } from '../../sessions/sealed-provider-tokens.js';
import { renewalIn } from './renewal-schedule.js';
import { type LeasedRenewal, RenewalsStore } from './renewals.store.js';

export type RenewedGrant = Extract<ProviderRenewal, { kind: 'renewed' }>['grant'];

const TRIES = 8;
const BETWEEN_TRIES_MS = 1_000;

/** What the provider has answered to a renewal, brought home. */
@Injectable()
export class ApplyRenewalService {
  constructor(
    private readonly renewals: RenewalsStore,
    private readonly sessions: Sessions,
    private readonly tokens: SealedProviderTokens,
    private readonly provider: ProviderClient,
    private readonly work: UnitOfWork,
  ) {}

  /**
   * Keeps what came. A session that has ended meanwhile stays ended: then what came is of no use to anybody, and is given back.
   */
  async land(leased: LeasedRenewal, before: ProviderTokens, grant: RenewedGrant): Promise<void> {
    const { accessToken, refreshToken = before.refreshToken, idToken = before.idToken, expiresIn } = grant;
    const now = { accessToken, idToken, ...(refreshToken === undefined ? {} : { refreshToken }) };
    const sealed = this.tokens.seal(leased.id, now);
    const isKept = await this.ofLease(leased, (tx) => this.renewals.keep(tx, leased, sealed, renewalIn(expiresIn)));
    if (!isKept) await this.provider.revoke(refreshToken ?? accessToken);
  }

  /** The provider does not vouch for this session any more. */
  async refuse(leased: LeasedRenewal): Promise<void> {
    await this.ofLease(leased, async (tx) => void (await this.sessions.end(tx, [leased], 'provider_refused', 'system')));
  }

  /**
   * Tried again while the database is away: the old refresh token is spent, and only this process has the new one.
   *
   * @returns false where the lease of the session is over
   */
  private async ofLease(leased: LeasedRenewal, act: (tx: Tx) => Promise<void>): Promise<boolean> {
    const plan = { chains: [organizationChain(leased.organizationId)], leavesFacts: true } as const;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.work.run(plan, async (tx) => {
          // Where the answer of the first attempt was lost, the second finds that it was committed.
          if (!(await this.renewals.isMine(tx, leased))) return attempt > 1;
          await act(tx);
          return true;
        });
      } catch (error) {
        if (attempt === TRIES || !isPassing(error)) throw error;
        await pause(BETWEEN_TRIES_MS);
      }
    }
  }
}
