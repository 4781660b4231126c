import { Injectable } from '@nestjs/common';
import { EDIT, ERROR, REASONS, REPORT, SETTLEMENT } from '../../domain/audit/erasure/erase-json-parts.js';
import type { JsonObject } from '../../domain/json.js';
import {
  type ErasedSoFar, type ErasureTarget, type PersonalData, PersonalDataHolders,
} from '../../platform/audit/personal-data/personal-data-holders.js';
import { type Erasable, PersonalRows } from '../../platform/audit/personal-data/personal-rows.store.js';
import { type FoundPerson, rowsAbout, stretchesOf } from '../../platform/audit/personal-data/personal-records.js';
import { classesOf, code, digest, free, id, partly, type PersonalRow } from '../../platform/audit/personal-data/personal-table.js';
import type { Tx } from '../../platform/database/transaction/tx.js';

/** None where somebody has put half of a character, or a NUL, into it: the database itself cannot take that apart. */
const READABLE_SETTLEMENT = String.raw`case when e.settlement::text !~* '\\u(0000|d[89a-f])' then e.settlement end`;

const EXECUTIONS: Erasable = {
  kind: 'executions', from: 'executions', key: { id: 'text' },
  columns: {
    organization_id: id, id, agent_id: id, capability: code, action: free(), status: code, effective_mode: code, runtime: code,
    input: free('canonical'), context: free('canonical'), reasons: partly(REASONS), definition: digest, grant_id: id,
    hitl_request_id: id, requested_by: id, reason: code, output: free('canonical'), error: partly(ERROR), audit_id: id,
    traceparent: id, report: partly(REPORT), settlement: partly(SETTLEMENT, 'json', { owner: 'settled_by', member: 'note' }),
    edit: partly(EDIT), task_id: id, task_chain: id,
  },
  extraColumns: { status: 't.status', settled_by: `t.settlement ->> 'by'` },
  erasability,
};

/**
 * What runs is not stopped, and its runtime has the bytes: the row is erased from once it has ended, and until then is left. What
 * waits for a person holds what its request holds, and goes with it.
 */
function erasability({ status }: PersonalRow): 'later' | 'elsewhere' | undefined {
  if (status === 'running') return 'later';
  return status === 'pending_hitl' ? 'elsewhere' : undefined;
}

/** What this module holds of people: whatever actions were done with, what came of them, and what people found out about them. */
@Injectable()
export class ExecutionsPersonalData implements PersonalData {
  readonly name = 'executions';
  readonly tables = classesOf([EXECUTIONS]);

  constructor(
    holders: PersonalDataHolders,
    private readonly rows: PersonalRows,
  ) {
    holders.register(this);
  }

  /** In stretches: no index finds them by a person. */
  async *about(person: FoundPerson): AsyncGenerator<JsonObject> {
    yield { settled: [], requested: [] };
    for await (const stretch of stretchesOf(person, 'executions')) {
      for await (const rows of rowsAbout<About>(person, ABOUT, stretch)) {
        yield { settled: rows.flatMap(({ settled }) => settled ?? []), requested: rows.flatMap(({ requested }) => requested ?? []) };
      }
    }
  }

  erase(tx: Tx, what: ErasureTarget, limit: number, after?: string): Promise<ErasedSoFar> {
    return this.rows.erase(tx, [EXECUTIONS], what, limit, after);
  }

  /** From these alone: of requests that were just erased from. */
  eraseOf(tx: Tx, what: ErasureTarget, ids: readonly string[]): Promise<Readonly<Record<string, number>>> {
    return this.rows.eraseOf(tx, EXECUTIONS, what, ids.map((one) => [one]));
  }
}

interface About {
  readonly settled: JsonObject | null;
  readonly requested: JsonObject | null;
}

const ABOUT = `
  select
    case when e.settlement ->> 'by' = $1 then json_build_object('id', e.id, 'capability', e.capability,
      'outcome', e.settlement -> 'outcome', 'note', e.settlement -> 'note', 'at', e.settlement -> 'at') end as settled,
    case when e.requested_by = $1 then json_build_object('id', e.id, 'capability', e.capability, 'at', e.created_at) end as requested
  from (
    select e.id, e.capability, e.requested_by, e.created_at, ${READABLE_SETTLEMENT} as settlement from executions e
    where e.organization_id = $2 and e.id > $3 and e.id <= $4) e
  where e.settlement ->> 'by' = $1 or e.requested_by = $1
  order by e.id`;
