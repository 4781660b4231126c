import { Injectable } from '@nestjs/common';
import { organizationChain } from '../../../domain/audit/entry/chain.js';
import { searchedTexts } from '../../../domain/audit/erasure/search-entry.js';
import { asService, recordsNothing } from '../../../platform/auth/access/call-context.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { AccountEnds } from '../../organizations/users/account-ends.js';
import { EraseAccount } from '../../organizations/users/erase-account.js';
import { sharedChange } from '../../organizations/shared-change.js';
import type { ErasureKey } from './erasure.js';
import { ErasureProgress } from './erasure-progress.service.js';
import { ErasureJob } from './erasure-job.service.js';
import { ErasuresQuery } from '../requests/erasures.query.js';
import { presentErasedUser, type ErasedUserReply } from '../erasures.presenter.js';

/** How long the answer waits for the search and for the identity provider: most searches have ended by then. */
const PATIENCE_MS = 1_500;

interface WantedSearch {
  readonly organizationId: string;
  readonly userId: string;
  readonly texts: readonly string[];
  readonly caller: Caller;
}

/**
 * Erases a user. The first transaction takes profile, keys, sessions and the link to the identity provider, and orders the deletion of the
 * account there and the searches for the rest. Where texts alone find more than one person may erase, a second person confirms. The
 * searches cover the caller's scope: of an admin the organization, of an owner the tenant, of root the platform's own chain as well.
 */
@Injectable()
export class EraseUserService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly accounts: EraseAccount,
    private readonly ends: AccountEnds,
    private readonly progress: ErasureProgress,
    private readonly erasures: ErasuresQuery,
    private readonly job: ErasureJob,
  ) {}

  async erase(userId: string, caller: Caller): Promise<ErasedUserReply> {
    const ref = await this.accounts.findRef(caller.scope, userId);
    const first = await this.work.run(sharedChange(ref.organizationId), async (tx) => {
      const account = await this.accounts.erase(tx, ref, caller);
      const chain = organizationChain(ref.organizationId);
      if (account.was?.isActive) tx.record(chain, { type: 'admin.user_deleted', metadata: { userId } });
      const texts = searchedTexts(account.was?.texts ?? []);
      const search = await this.begin(tx, { organizationId: ref.organizationId, userId, texts, caller });
      return { account, texts, others: await this.elsewhere(tx, caller, userId), keys: search ? [search] : [] };
    });
    const keys = [...first.keys];
    for (const organizationId of first.others) {
      const begin = () => this.work.run({ chains: [organizationChain(organizationId)], leavesFacts: true }, (tx) =>
        this.begin(tx, { organizationId, userId, texts: first.texts, caller }));
      // Callers who have just erased themselves have no credential any more.
      const search = await (caller.actorId === userId ? asService('worker', begin) : begin());
      if (search) keys.push(search);
    }
    if (keys.length === 0) recordsNothing();
    const [hasFollowed] = await Promise.all([
      first.account.elsewhere === 'follows' && this.ends.followed(ref, PATIENCE_MS),
      keys.length > 0 && this.job.hurry(PATIENCE_MS),
    ]);
    return presentErasedUser(userId, first.account, hasFollowed, await this.erasures.these(caller.scope, keys));
  }
  /** Begins a search. Needs the head of the organization's chain. @returns undefined where the user's erasure was asked for before */
  private async begin(tx: Tx, { organizationId, userId, texts, caller }: WantedSearch): Promise<ErasureKey | undefined> {
    if ((await this.progress.store.askedFor(tx, userId, [organizationId])).length > 0) return undefined;
    return this.progress.begin(tx, {
      organizationId, kind: 'user', userId, texts, reason: null, state: 'running', caller, cursor: { phase: 'subjects', round: 1 },
    });
  }

  /** Organizations in the caller's scope whose log names the user, and in which nobody has asked for the erasure yet. */
  private async elsewhere(tx: Tx, { scope }: Caller, userId: string): Promise<string[]> {
    const organizations = await this.erasures.organizationsNaming(tx, scope, userId);
    const asked = new Set(await this.progress.store.askedFor(tx, userId, organizations));
    return organizations.filter((organizationId) => !asked.has(organizationId));
  }
}
