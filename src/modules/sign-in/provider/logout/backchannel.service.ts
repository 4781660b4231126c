import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { organizationChain } from '../../../../domain/audit/entry/chain.js';
import { AuthJournal } from '../../../../platform/auth/failures/auth-journal.js';
import { recordsNothing } from '../../../../platform/auth/access/call-context.js';
import { UnitOfWork } from '../../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../../platform/http/reply/problem.js';
import { Sessions } from '../../ports/sessions.js';
import { SpentOnceStore } from '../../ports/spent-once.store.js';
import { EndedProviderSessions } from './ended-provider-sessions.js';
import { LogoutTokens } from './logout-token.js';

const TOKEN_MAX = 16_000;

/** The provider has ended a session of its own, or all of somebody's: ours that rest on it end too. */
@Injectable()
export class BackchannelService {
  constructor(
    private readonly tokens: LogoutTokens,
    private readonly rested: EndedProviderSessions,
    private readonly sessions: Sessions,
    private readonly spent: SpentOnceStore,
    private readonly work: UnitOfWork,
    private readonly journal: AuthJournal,
  ) {}

  /** @throws Problem VALIDATION_FAILED for a token that does not hold, or was used before; NOT_FOUND without a provider */
  async logout(request: Request, token: string | undefined): Promise<void> {
    const logout = token === undefined || token.length > TOKEN_MAX ? undefined : await this.tokens.verify(token);
    if (logout === undefined) return this.refuse(request, 'logout token refused');
    const refs = await this.rested.endedBy(logout);
    const organizations = [...new Set(refs.map(({ organizationId }) => organizationId))];
    const ended = await this.work.run({ chains: organizations.map(organizationChain), leavesFacts: true }, async (tx) => {
      if (!(await this.spent.spend(tx, 'logout-token', logout.id, logout.until))) return undefined;
      return this.sessions.end(tx, refs, 'provider', 'system');
    });
    if (ended === undefined) return this.refuse(request, 'logout token used before');
    if (ended === 0) recordsNothing();
  }

  private async refuse(request: Request, reason: string): Promise<never> {
    await this.journal.failed(request, reason);
    throw new Problem('VALIDATION_FAILED', 'The logout token does not hold, or was used before.');
  }
}
