import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../domain/json.js';
import { type ErasedSoFar, type PersonalData, PersonalDataHolders } from '../../platform/audit/personal-data/personal-data-holders.js';
import type { FoundPerson } from '../../platform/audit/personal-data/personal-records.js';
import { classesOf, code, digest, id } from '../../platform/audit/personal-data/personal-table.js';
import type { Tx } from '../../platform/database/transaction/tx.js';

/** What this module holds of people: nothing. Inputs and outputs stand in executions; the digest of an answer is keyed. */
@Injectable()
export class NodePersonalData implements PersonalData {
  readonly name = 'node';
  readonly tables = classesOf([
    { from: 'node_work', columns: { organization_id: id, execution_id: id, agent_id: id, status: code, answer: digest } },
  ]);

  constructor(holders: PersonalDataHolders) {
    holders.register(this);
  }

  async *about(_person: FoundPerson): AsyncGenerator<JsonObject> {}

  erase(_tx: Tx): Promise<ErasedSoFar> {
    return Promise.resolve({ counts: {} });
  }
}
