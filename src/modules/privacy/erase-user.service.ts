import { Injectable } from '@nestjs/common';
import { organizationChain } from '../../domain/audit/chain.js';
import { searchedTexts } from '../../domain/audit/search-entry.js';
import { newId } from '../../domain/ids.js';
import { asService, recordsNothing } from '../../platform/auth/call-context.js';
import type { Caller } from '../../platform/auth/principal.js';
import type { Tx } from '../../platform/database/tx.js';
import { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { EraseAccount } from '../organizations/erase-account.js';
import { sharedChange } from '../organizations/shared-change.js';
import { type ErasureKey, NOTHING_YET } from './erasure.js';
import { ErasureJob } from './erasure-job.service.js';
import { ErasureStore } from './erasure.store.js';
import { ErasureTexts } from './erasure-texts.js';
import { ErasuresQuery } from './erasures.query.js';
import { LogSearchQuery } from './log-search.query.js';
import { presentErasedUser, type ErasedUserReply } from './erasures.presenter.js';

/** How long the answer waits for the search: of most logs all is told by then. */
const PATIENCE_MS = 1_500;

/**
 * The end of what is known of a user. Profile and keys go in the first transaction, with the order to search for the rest; the search
 * reaches as far as whoever asks for it: an admin's the organization, an owner's the tenant, root's the platform's own chain too.
 */
@Injectable()
export class EraseUserService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly accounts: EraseAccount,
    private readonly searches: EraseUserSearches,
    private readonly erasures: ErasuresQuery,
    private readonly job: ErasureJob,
  ) {}

  async erase(userId: string, caller: Caller): Promise<ErasedUserReply> {
    const place = await this.accounts.place(caller.scope, userId);
    const first = await this.work.run(sharedChange(place.organizationId), async (tx) => {
      const account = await this.accounts.erase(tx, place, caller);
      const chain = organizationChain(place.organizationId);
      if (account.was?.isActive) tx.record(chain, { type: 'admin.user_deleted', metadata: { userId } });
      const texts = searchedTexts(account.was?.texts ?? []);
      const search = await this.searches.begin(tx, { organizationId: place.organizationId, userId, texts, caller });
      return { account, texts, others: await this.searches.elsewhere(tx, caller, userId), keys: search ? [search] : [] };
    });
    const keys = [...first.keys];
    for (const organizationId of first.others) {
      const begin = () => this.work.run({ chains: [organizationChain(organizationId)], leavesFacts: true }, (tx) =>
        this.searches.begin(tx, { organizationId, userId, texts: first.texts, caller }));
      // Who has just erased themselves has no credential any more.
      const search = await (caller.actorId === userId ? asService('worker', begin) : begin());
      if (search) keys.push(search);
    }
    if (keys.length === 0) recordsNothing();
    else await this.job.hurry(PATIENCE_MS);
    return presentErasedUser(userId, first.account, await this.erasures.these(caller.scope, keys));
  }
}

interface WantedSearch {
  readonly organizationId: string;
  readonly userId: string;
  readonly texts: readonly string[];
  readonly caller: Caller;
}

/** The searches of one user's erasure: one in each organization whose log names them. */
@Injectable()
export class EraseUserSearches {
  constructor(
    private readonly store: ErasureStore,
    private readonly log: LogSearchQuery,
    private readonly texts: ErasureTexts,
  ) {}

  /** Under the head of the organization's chain. @returns undefined where it was asked for before */
  async begin(tx: Tx, { organizationId, userId, texts, caller }: WantedSearch): Promise<ErasureKey | undefined> {
    if ((await this.store.askedFor(tx, userId, [organizationId])).length > 0) return undefined;
    const id = newId('ers');
    await this.store.insert(tx, {
      organizationId, id, kind: 'user', userId, texts: this.texts.seal(id, texts), reason: null, state: 'running', askedBy: caller.actorId,
      place: { phase: 'subjects', round: 1 }, counts: NOTHING_YET, askedAt: await tx.now(),
    });
    tx.record(organizationChain(organizationId), {
      type: 'gdpr.erasure_requested', metadata: { userId, erasureId: id, count: texts.length },
    }, { actorId: caller.actorId });
    return { organizationId, id };
  }

  /** Organizations, of those that the caller reaches, whose log names the user and in which nobody has asked for it yet. */
  async elsewhere(tx: Tx, { scope }: Caller, userId: string): Promise<string[]> {
    const organizations = await this.log.organizationsOf(tx, scope, userId);
    const asked = new Set(await this.store.askedFor(tx, userId, organizations));
    return organizations.filter((organizationId) => !asked.has(organizationId));
  }
}
