import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../../domain/json.js';
import {
  type ErasedSoFar, type ErasureTarget, type PersonalData, PersonalDataHolders,
} from '../../../platform/audit/personal-data/personal-data-holders.js';
import { type Erasable, PersonalRows } from '../../../platform/audit/personal-data/personal-rows.store.js';
import { type FoundPerson, listAbout } from '../../../platform/audit/personal-data/personal-records.js';
import { classesOf, code, free, id, secret } from '../../../platform/audit/personal-data/personal-table.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';

const TABLES: readonly Erasable[] = [
  {
    kind: 'erasures', from: 'erasures', key: { id: 'text' },
    columns: {
      organization_id: id, id, kind: code, user_id: id, texts: secret, reason: free(), state: code, asked_by: id, confirmed_by: id,
      place: code, counts: code, covered: code, target: code,
    },
  },
];

/** Erasures of a user, or asked for or confirmed by the user. */
const ABOUT = `
  select json_build_object('id', e.id, 'state', e.state, 'askedAt', e.asked_at) as row from erasures e
  where e.organization_id = any ($2) and (e.user_id = $1 or e.asked_by = $1 or e.confirmed_by = $1) order by e.id`;

/** The reason of an erasure is free text, and may name the person of another erasure. */
@Injectable()
export class ErasuresPersonalData implements PersonalData {
  readonly name = 'erasures';
  readonly tables = classesOf(TABLES);

  constructor(
    holders: PersonalDataHolders,
    private readonly rows: PersonalRows,
  ) {
    holders.register(this);
  }

  about(person: FoundPerson): AsyncGenerator<JsonObject> {
    return listAbout(person, 'erasures', ABOUT);
  }

  erase(tx: Tx, what: ErasureTarget, limit: number, after?: string): Promise<ErasedSoFar> {
    return this.rows.erase(tx, TABLES, what, limit, after);
  }
}
