import { Injectable } from '@nestjs/common';
import { organizationChain } from '../../../domain/audit/entry/chain.js';
import { newId } from '../../../domain/ids.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { type ErasureKey, NOTHING_YET } from './erasure.js';
import { ErasureStore } from './erasure.store.js';
import { SealedSearchTexts } from '../requests/sealed-search-texts.js';
import { LogSearchQuery } from '../search/log-search.query.js';

interface WantedSearch {
  readonly organizationId: string;
  readonly userId: string;
  readonly texts: readonly string[];
  readonly caller: Caller;
}

/** Begins the searches for one user: one in each organization whose log names the user. */
@Injectable()
export class EraseUserSearches {
  constructor(
    private readonly store: ErasureStore,
    private readonly log: LogSearchQuery,
    private readonly texts: SealedSearchTexts,
  ) {}

  /** Needs the head of the organization's chain. @returns undefined where the user's erasure was asked for before */
  async begin(tx: Tx, { organizationId, userId, texts, caller }: WantedSearch): Promise<ErasureKey | undefined> {
    if ((await this.store.askedFor(tx, userId, [organizationId])).length > 0) return undefined;
    const id = newId('ers');
    await this.store.insert(tx, {
      organizationId, id, kind: 'user', userId, texts: this.texts.seal(id, texts), reason: null, state: 'running', askedBy: caller.actorId,
      cursor: { phase: 'subjects', round: 1 }, counts: NOTHING_YET, askedAt: await tx.now(),
    });
    tx.record(organizationChain(organizationId), {
      type: 'gdpr.erasure_requested', metadata: { userId, erasureId: id, count: texts.length },
    }, { actorId: caller.actorId });
    return { organizationId, id };
  }

  /** Organizations in the caller's scope whose log names the user, and in which nobody has asked for the erasure yet. */
  async elsewhere(tx: Tx, { scope }: Caller, userId: string): Promise<string[]> {
    const organizations = await this.log.organizationsOf(tx, scope, userId);
    const asked = new Set(await this.store.askedFor(tx, userId, organizations));
    return organizations.filter((organizationId) => !asked.has(organizationId));
  }
}
