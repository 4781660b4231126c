import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../domain/json.js';
import { type ErasedSoFar, type PersonalData, PersonalDataHolders } from '../../platform/audit/personal-data/personal-data-holders.js';
import { classesOf, code, digest, id } from '../../platform/audit/personal-data/personal-table.js';

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

  // eslint-disable-next-line require-yield
  async *about(): AsyncGenerator<JsonObject> {
    return;
  }

  async erase(): Promise<ErasedSoFar> {
    return { counts: {} };
  }
}
