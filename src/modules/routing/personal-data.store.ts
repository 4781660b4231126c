import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../domain/json.js';
import {
  type ErasedSoFar, type ErasureTarget, type PersonalData, PersonalDataHolders,
} from '../../platform/audit/personal-data/personal-data-holders.js';
import { type Erasable, PersonalRows } from '../../platform/audit/personal-data/personal-rows.store.js';
import { type FoundPerson, listAbout } from '../../platform/audit/personal-data/personal-records.js';
import { classesOf, code, free, id } from '../../platform/audit/personal-data/personal-table.js';
import type { Tx } from '../../platform/database/transaction/tx.js';

const TABLES: readonly Erasable[] = [
  {
    kind: 'routingDecisions', from: 'routing_decisions', key: { id: 'text' },
    columns: {
      // Candidates are ids, numbers and codes.
      organization_id: id, id, capabilities: code, description: free(), tags: free('list'), team_id: free(), exclude: free('list'),
      agent_id: id, agent_name: free(), candidates: code, asked_by: id,
    },
  },
];

/** What this module holds of people: what tasks were called when an agent was looked for, and who asked. */
@Injectable()
export class RoutingPersonalData implements PersonalData {
  readonly name = 'routing';
  readonly tables = classesOf(TABLES);

  constructor(
    holders: PersonalDataHolders,
    private readonly rows: PersonalRows,
  ) {
    holders.register(this);
  }

  async *about(person: FoundPerson): AsyncGenerator<JsonObject> {
    yield* listAbout(person, 'routingDecisions', ASKED);
  }

  erase(tx: Tx, what: ErasureTarget, limit: number, after?: string): Promise<ErasedSoFar> {
    return this.rows.erase(tx, TABLES, what, limit, after);
  }
}

const ASKED = `
  select json_build_object('id', d.id, 'capabilities', d.capabilities, 'description', d.description, 'at', d.created_at) as row
  from routing_decisions d where d.organization_id = any ($2) and d.asked_by = $1 order by d.id`;
