import { Injectable } from '@nestjs/common';
import { EDIT, ERROR, REASONS, REPORT, SETTLEMENT } from '../../domain/audit/erase-parts.js';
import type { JsonObject } from '../../domain/json.js';
import {
  type ErasedSoFar, type ErasureTarget, type PersonalData, PersonalDataHolders,
} from '../../platform/audit/personal-data.js';
import { type Erasable, PersonalRows } from '../../platform/audit/personal-rows.store.js';
import { classesOf, code, digest, free, id, partly, type PersonalRow } from '../../platform/audit/personal-table.js';
import type { Tx } from '../../platform/database/tx.js';

/** Rows looked at by one statement of a copy. */
const LOOK = 20_000;

/** None where somebody has put half of a character, or a NUL, into it: the database itself cannot take that apart. */
const READABLE_SETTLEMENT = String.raw`case when e.settlement::text !~* '\\u(0000|d[89a-f])' then e.settlement end`;

const EXECUTIONS: Erasable = {
  kind: 'executions', from: 'executions', key: { id: 'text' },
  columns: {
    organization_id: id, id, agent_id: id, capability: code, action: free(), status: code, effective_mode: code, runtime: code,
    input: free('canonical'), context: free('canonical'), reasons: partly(REASONS), definition: digest, grant_id: id,
    hitl_request_id: id, requested_by: id, reason: code, output: free('canonical'), error: partly(ERROR), audit_id: id,
    traceparent: id, report: partly(REPORT), settlement: partly(SETTLEMENT, 'json', { owner: 'settled_by', member: 'note' }),
    edit: partly(EDIT),
  },
  also: { status: 't.status', settled_by: `t.settlement ->> 'by'` },
  stands,
};

/**
 * What runs is not stopped, and its runtime has the bytes: the row is erased from once it has ended, and until then is left. What
 * waits for a person holds what its request holds, and goes with it.
 */
function stands({ status }: PersonalRow): 'left' | 'elsewhere' | undefined {
  if (status === 'running') return 'left';
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

  /** In batches: no index finds them by a person. */
  async about(tx: Tx, userId: string): Promise<JsonObject> {
    const settled: JsonObject[] = [];
    const requested: JsonObject[] = [];
    for (let after: string | null = ''; after !== null;) {
      const [look]: Look[] = await tx.query<Look>(
        `with looked_at as materialized (
           select e.id, e.capability, e.requested_by, e.created_at, ${READABLE_SETTLEMENT} as settlement from executions e
           where e.organization_id = (select u.organization_id from users u where u.id = $1) and e.id > $2 order by e.id limit $3)
         select (select max(id) from looked_at) as last,
           (select coalesce(json_agg(json_build_object('id', id, 'capability', capability, 'outcome', settlement -> 'outcome',
              'note', settlement -> 'note', 'at', settlement -> 'at') order by id), '[]')
            from looked_at where settlement ->> 'by' = $1) as settled,
           (select coalesce(json_agg(json_build_object('id', id, 'capability', capability, 'at', created_at) order by id), '[]')
            from looked_at where requested_by = $1) as requested`,
        [userId, after, LOOK],
      );
      settled.push(...look!.settled);
      requested.push(...look!.requested);
      after = look!.last;
    }
    return { settled, requested };
  }

  erase(tx: Tx, what: ErasureTarget, limit: number, after?: string): Promise<ErasedSoFar> {
    return this.rows.erase(tx, [EXECUTIONS], what, limit, after);
  }

  /** From these alone: of requests that were just erased from. */
  eraseOf(tx: Tx, what: ErasureTarget, ids: readonly string[]): Promise<Readonly<Record<string, number>>> {
    return this.rows.eraseOf(tx, EXECUTIONS, what, ids.map((one) => [one]));
  }
}

interface Look {
  readonly [member: string]: unknown;
  readonly last: string | null;
  readonly settled: JsonObject[];
  readonly requested: JsonObject[];
}
