import { Injectable } from '@nestjs/common';
import { ERASED } from '../../../domain/audit/entry/read-entry.js';
import { textMatcher } from '../../../domain/audit/erasure/text-matcher.js';
import type { JsonObject } from '../../../domain/json.js';
import {
  type ColumnClass, type ErasedSoFar, type ErasureTarget, type PersonalData, PersonalDataHolders,
} from '../../../platform/audit/personal-data/personal-data-holders.js';
import type { FoundPerson } from '../../../platform/audit/personal-data/personal-records.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { ErasureStore } from '../execution/erasure.store.js';

/** The reason of an erasure is free text, and may name the person of another erasure. */
@Injectable()
export class ErasuresPersonalData implements PersonalData {
  readonly name = 'erasures';
  readonly tables: Readonly<Record<string, Readonly<Record<string, ColumnClass>>>> = {
    erasures: {
      organization_id: 'id', id: 'id', kind: 'code', user_id: 'id', texts: 'secret', reason: 'free', state: 'code', asked_by: 'id',
      confirmed_by: 'id', place: 'code', counts: 'code', covered: 'code', target: 'code',
    },
  };

  constructor(
    holders: PersonalDataHolders,
    private readonly store: ErasureStore,
  ) {
    holders.register(this);
  }

  about(person: FoundPerson): AsyncGenerator<JsonObject> {
    return this.store.about(person);
  }

  async erase(tx: Tx, { organizationId, texts }: ErasureTarget, limit: number, after = ''): Promise<ErasedSoFar> {
    const matches = textMatcher(texts);
    const rows = await this.store.reasons(tx, organizationId, after, limit);
    const telling = rows.filter(({ reason }) => reason !== null && matches(reason)).map(({ id }) => id);
    if (telling.length > 0) await this.store.giveReason(tx, organizationId, telling, ERASED);
    return { counts: telling.length === 0 ? {} : { erasures: telling.length }, ...(rows.length < limit ? {} : { next: rows.at(-1)!.id }) };
  }
}
