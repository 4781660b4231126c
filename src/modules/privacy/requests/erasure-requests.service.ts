import { Injectable } from '@nestjs/common';
import { organizationChain } from '../../../domain/audit/entry/chain.js';
import { newId } from '../../../domain/ids.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { type Erasure, type ErasureKey, NOTHING_YET } from '../execution/erasure.js';
import { ErasureStore } from '../execution/erasure.store.js';
import { SealedSearchTexts } from './sealed-search-texts.js';
import type { ErasureRow } from './erasures.query.js';

export interface NewErasureRequest {
  readonly organizationId: string;
  readonly values: readonly string[];
  readonly reason: string;
  readonly caller: Caller;
  readonly state: 'unconfirmed' | 'running';
}

/** Orders to erase texts: given by one person, and confirmed by a second one where one person is not enough. */
@Injectable()
export class ErasureRequests {
  constructor(
    private readonly store: ErasureStore,
    private readonly texts: SealedSearchTexts,
  ) {}

  /** @throws Problem NOT_FOUND, also for an erasure of another organization */
  find({ scope }: Caller, id: string): Promise<ErasureKey> {
    return this.store.findKey(scope, id);
  }

  /** How many values the caller has erased here within a day without a confirmation. */
  erasedAlone(tx: Tx, organizationId: string, { actorId: askedBy }: Caller): Promise<number> {
    return this.store.erasedAlone(tx, { organizationId, id: '', askedBy });
  }

  async insert(tx: Tx, { organizationId, values, reason, caller, state }: NewErasureRequest): Promise<ErasureRow> {
    const id = newId('ers');
    const row = {
      organizationId, id, kind: 'values', userId: null, reason, state, askedBy: caller.actorId, cursor: { phase: 'log', round: 1 },
      counts: NOTHING_YET, askedAt: await tx.now(),
    } as const;
    await this.store.insert(tx, { ...row, texts: this.texts.seal(id, values) });
    await this.store.setScope(tx, row);
    tx.record(organizationChain(organizationId), {
      type: 'gdpr.erasure_requested', metadata: { erasureId: id, count: values.length, reason },
    });
    return { ...row, confirmedBy: null, endedAt: null };
  }

  /** @throws Problem FORBIDDEN for the person who has asked for the erasure, CONFLICT where no confirmation is awaited */
  async confirm(tx: Tx, key: ErasureKey, caller: Caller): Promise<ErasureRow> {
    const erasure = (await this.store.find(tx, key, true)) as Erasure;
    if (erasure.state !== 'unconfirmed') throw new Problem('CONFLICT', 'The erasure waits for nobody to confirm it.');
    if (erasure.askedBy === caller.actorId) throw new Problem('FORBIDDEN', 'Somebody else confirms it than has asked for it.');
    await this.store.setState(tx, key, 'running', caller.actorId);
    tx.record(organizationChain(key.organizationId), {
      type: 'gdpr.erasure_confirmed', metadata: { erasureId: key.id, askedBy: erasure.askedBy },
    });
    return { ...erasure, state: 'running', confirmedBy: caller.actorId };
  }
}
