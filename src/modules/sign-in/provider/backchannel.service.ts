import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { organizationChain } from '../../../domain/audit/chain.js';
import { AuthJournal } from '../../../platform/auth/auth-journal.js';
import { recordsNothing } from '../../../platform/auth/call-context.js';
import { UnitOfWork } from '../../../platform/database/unit-of-work.js';
import { Problem } from '../../../platform/http/problem.js';
import { Sessions } from '../seams/sessions.js';
import { SpentOnceStore } from '../seams/spent-once.store.js';
import { LogoutTokens } from './logout-token.js';
import { ProviderMetadata } from './provider-metadata.js';
import { ProviderSessionsQuery } from './provider-sessions.query.js';

/** The provider has ended a session of its own, or all of somebody's: ours that rest on it end too. */
@Injectable()
export class BackchannelService {
  constructor(
    private readonly tokens: LogoutTokens,
    private readonly provider: ProviderMetadata,
    private readonly found: ProviderSessionsQuery,
    private readonly sessions: Sessions,
    private readonly spent: SpentOnceStore,
    private readonly ends: { work: UnitOfWork; journal: AuthJournal },
  ) {}
}
