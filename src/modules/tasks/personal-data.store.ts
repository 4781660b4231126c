import { Injectable } from '@nestjs/common';
import { agentChain } from '../../domain/audit/entry/chain.js';
import type { JsonObject } from '../../domain/json.js';
import {
  type ErasedSoFar, type ErasureTarget, type PersonalData, PersonalDataHolders,
} from '../../platform/audit/personal-data/personal-data-holders.js';
import { type Erasable, PersonalRows } from '../../platform/audit/personal-data/personal-rows.store.js';
import { type FoundPerson, listAbout } from '../../platform/audit/personal-data/personal-records.js';
import { classesOf, code, free, id, type PersonalRow } from '../../platform/audit/personal-data/personal-table.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { EndTasksService } from './end-tasks.service.js';

/** What this module holds of people: what tasks are done with and called, and who gave them. */
@Injectable()
export class TasksPersonalData implements PersonalData {
  readonly name = 'tasks';
  private readonly erasable: readonly Erasable[] = [
    {
      kind: 'tasks', from: 'tasks', key: { id: 'text' },
      columns: {
        organization_id: id, id, parent_id: id, ancestors: id, capability: code, input: free('canonical'), description: free(),
        from_agent_id: id, to_agent_id: id, chain: id, delegated_by: id, initiator: id, decision_id: id, status: code, execution_id: id,
        reason: code,
      },
      extraColumns: { id: 't.id', status: 't.status', to_agent_id: 't.to_agent_id' },
      head: (organizationId, row) => (isAssigned(row) ? agentChain(organizationId, row['to_agent_id'] as string) : undefined),
      // A task with another input is another task: an equal call would be nobody's but its agent's.
      before: (tx, { organizationId }, touched) => this.ending.endWithin(
        tx, organizationId, touched.filter(({ row }) => isAssigned(row)).map(({ row }) => row['id'] as string), 'erased'),
    },
  ];
  readonly tables = classesOf(this.erasable);

  constructor(
    holders: PersonalDataHolders,
    private readonly rows: PersonalRows,
    private readonly ending: EndTasksService,
  ) {
    holders.register(this);
  }

  async *about(person: FoundPerson): AsyncGenerator<JsonObject> {
    yield* listAbout(person, 'tasks', DELEGATED);
  }

  erase(tx: Tx, what: ErasureTarget, limit: number, after?: string): Promise<ErasedSoFar> {
    return this.rows.erase(tx, this.erasable, what, limit, after);
  }
}

const isAssigned = (row: PersonalRow) => row['status'] === 'assigned';

const DELEGATED = `
  select json_build_object('id', t.id, 'capability', t.capability, 'toAgentId', t.to_agent_id, 'at', t.created_at) as row
  from tasks t where t.organization_id = any ($2) and (t.delegated_by = $1 or t.initiator = $1) order by t.id`;
