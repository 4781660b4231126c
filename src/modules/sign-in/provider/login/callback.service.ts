import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { AuthJournal } from '../../../../platform/auth/failures/auth-journal.js';
import { CONFIG, type CompleteConfig } from '../../../../platform/config/config.js';
import { UnitOfWork } from '../../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../../platform/http/reply/problem.js';
import { queryOf } from '../../../../platform/http/request/query-params.js';
import { ProviderAccounts, type ProviderAccount } from '../../ports/provider-accounts.js';
import { ProviderClient, type LoginChecks, type ProviderGrant } from '../../ports/provider-client.js';
import { SpentOnceStore } from '../../ports/spent-once.store.js';
import { accountProblem } from '../accounts/account-refusals.js';
import type { LoginUnderWay } from './login-cookies.js';

/** Whom the provider vouches for, with an account here. */
export interface Returned {
  readonly issuer: string;
  readonly grant: ProviderGrant;
  readonly person: ProviderAccount['person'];
  readonly returnTo: string;
}

const NOT_UNDER_WAY = 'This sign-in was not begun in this browser, or too long ago. Begin again.';

/** Coming back from the provider, as far as the person who came: the answer must be that of this very sign-in, and is taken once. */
@Injectable()
export class CallbackService {
  constructor(
    private readonly provider: ProviderClient,
    private readonly accounts: ProviderAccounts,
    private readonly spent: SpentOnceStore,
    private readonly work: UnitOfWork,
    private readonly journal: AuthJournal,
    @Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'oidcRedirectUri'>,
  ) {}

  /**
   * @param login what this browser had under way by the state that came back
   * @throws Problem, in words of our own, whatever the provider or the address says
   */
  async accept(request: Request, login: LoginUnderWay | undefined): Promise<Returned> {
    const { issuer } = this.provider;
    if (issuer === undefined) throw new Problem('NOT_FOUND', 'This service signs people in without an identity provider.');
    if (login === undefined || !(await this.isFirstUse(login))) {
      await this.journal.failed(request, 'sign-in not under way');
      throw new Problem('VALIDATION_FAILED', NOT_UNDER_WAY);
    }
    const grant = await this.exchanged(request, login.checks);
    const account = await this.accounts.orMake(issuer, grant.claims, 'sign-in');
    if (!('refused' in account)) return { issuer, grant, person: account.person, returnTo: login.returnTo };
    // What the provider has granted is of no use to anybody.
    void this.provider.revoke(grant.refreshToken ?? grant.accessToken);
    await this.journal.failed(request, `no account: ${account.refused}`);
    throw accountProblem(account);
  }

  /** Spent before the provider is asked: a code that it sees twice makes it end what the first use began (RFC 6749, section 4.1.2). */
  private isFirstUse({ checks, until }: LoginUnderWay): Promise<boolean> {
    return this.work.run({ chains: [], leavesFacts: true }, (tx) => this.spent.spend(tx, 'state', checks.state, until));
  }

  private async exchanged(request: Request, checks: LoginChecks): Promise<ProviderGrant> {
    const callback = new URL(this.config.oidcRedirectUri);
    // Of the request only the query counts: its host is whatever the caller says it is.
    callback.search = queryOf(request.originalUrl);
    try {
      return await this.provider.exchange(callback, checks);
    } catch (error) {
      if (error instanceof Problem && error.code === 'VALIDATION_FAILED') await this.journal.failed(request, 'sign-in refused');
      throw error;
    }
  }
}
