import { Injectable } from '@nestjs/common';
import { agentChain } from '../../domain/audit/entry/chain.js';
import { DIFF, REASONS } from '../../domain/audit/erasure/erase-json-parts.js';
import { type HitlStatus, isOpen } from '../../domain/hitl/transition.js';
import type { JsonObject } from '../../domain/json.js';
import {
  type ErasedSoFar, type ErasureTarget, type PersonalData, PersonalDataHolders,
} from '../../platform/audit/personal-data/personal-data-holders.js';
import { type Erasable, PersonalRows, type Touched } from '../../platform/audit/personal-data/personal-rows.store.js';
import { type FoundPerson, listAbout, rowsAbout, stretchesOf } from '../../platform/audit/personal-data/personal-records.js';
import { classesOf, code, digest, free, id, partly, type PersonalRow, secret } from '../../platform/audit/personal-data/personal-table.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { ExecutionsPersonalData } from '../executions/personal-data.store.js';
import { CancelErasedService } from './requests/cancel-erased.service.js';

/** What an approved action runs with, or was approved for. */
const RUNS_WITH = ['input', 'context', 'action', 'edit_diff', 'requested_input', 'initiators'];

/** What this module holds of people: what they were asked, what they decided, and what they wrote about it. */
@Injectable()
export class HitlPersonalData implements PersonalData {
  readonly name = 'hitl';
  private readonly requests: Erasable = {
    kind: 'requests', from: 'hitl_requests', key: { id: 'text' },
    columns: {
      organization_id: id, id, agent_id: id, agent_name: free(), capability: code, action: free(), hitl_mode: code, status: code,
      runs: code, input: free('canonical'), context: free('canonical'),
      // With the nonce, a guess of the input could be tried against the digest.
      nonce: { ...secret, form: 'text', goesWith: ['input', 'requested_input', 'action'] },
      definition: digest, digest, reasons: partly(REASONS), grant_id: id, execution_id: id, created_by: id, timeout_action: code,
      escalated_to: id, escalation_reason: free(), decision_outcome: code, decision_by: code, decided_by: id,
      note: free('text', { owner: 'decided_by' }), decision_entry_id: id, separation_of_duties: code, initiators: free('list'),
      agent_owner_id: id, agent_registered_by: id, vouched_by: id, team_id: id, quorum: code, reminders: code,
      requested_input: free('canonical'), edited_by: id, edit_diff: partly(DIFF), task_id: id, task_chain: id,
      task_owner_id: id,
    },
    extraColumns: {
      agent_id: 't.agent_id', execution_id: 't.execution_id', status: 't.status',
      execution_status: '(select e.status from executions e where e.organization_id = t.organization_id and e.id = t.execution_id)',
    },
    head: (organizationId, row) => (isLive(row) ? agentChain(organizationId, row['agent_id'] as string) : undefined),
    // What runs is asked about its request again after a crash; both are erased from once it has ended.
    erasability: (row) => (row['execution_status'] === 'running' ? 'later' : undefined),
    before: (tx, { organizationId }, touched) => this.cancelling.cancel(tx, organizationId, touched.flatMap(toEnd)),
    // Also what ended after the executions were looked through.
    after: (tx, what, changed) => this.executions.eraseOf(tx, what, changed.map(({ row }) => row['execution_id'] as string)),
  };
  private readonly erasable: readonly Erasable[] = [
    this.requests,
    {
      kind: 'votes', from: 'hitl_votes', key: { request_id: 'text', version: 'integer', voter: 'text' },
      columns: {
        organization_id: id, request_id: id, digest, voter: id, note: free('text', { owner: 'voter' }), entry_id: id,
      },
    },
  ];
  readonly tables = {
    ...classesOf(this.erasable),
    hitl_events: {
      organization_id: id.class, event: code.class, request_id: id.class, agent_id: id.class, capability: code.class,
      status: code.class, escalated_to: id.class, execution_id: id.class, execution_status: code.class,
    },
  };

  constructor(
    holders: PersonalDataHolders,
    private readonly rows: PersonalRows,
    private readonly executions: ExecutionsPersonalData,
    private readonly cancelling: CancelErasedService,
  ) {
    holders.register(this);
  }

  /** What they decided and changed, and what they wrote about it; never what they were asked, which is of others. */
  async *about(person: FoundPerson): AsyncGenerator<JsonObject> {
    yield { decided: [], edited: [] };
    for await (const stretch of stretchesOf(person, 'hitl_requests')) {
      for await (const rows of rowsAbout<About>(person, ABOUT, stretch)) {
        yield { decided: rows.flatMap(({ decided }) => decided ?? []), edited: rows.flatMap(({ edited }) => edited ?? []) };
      }
    }
    yield* listAbout(person, 'votes', VOTES);
  }

  erase(tx: Tx, what: ErasureTarget, limit: number, after?: string): Promise<ErasedSoFar> {
    return this.rows.erase(tx, this.erasable, what, limit, after);
  }
}

interface About {
  readonly decided: JsonObject | null;
  readonly edited: JsonObject | null;
}

const ABOUT = `
  select
    case when q.decided_by = $1 then json_build_object('id', q.id, 'capability', q.capability, 'outcome', q.decision_outcome,
      'at', q.decided_at, 'note', q.note) end as decided,
    case when q.edited_by = $1 then json_build_object('id', q.id, 'capability', q.capability, 'at', q.edited_at) end as edited
  from hitl_requests q
  where q.organization_id = $2 and q.id > $3 and q.id <= $4
    and (q.decided_by = $1 or q.edited_by = $1)
  order by q.id`;

const VOTES = `
  select json_build_object('id', v.request_id, 'version', v.version, 'at', v.voted_at, 'note', v.note) as row from hitl_votes v
  where v.organization_id = any ($2) and v.voter = $1
  order by v.request_id, v.version`;

/** Somebody may still decide on it, or what they approved may still begin. */
function isLive({ status, execution_status }: PersonalRow): boolean {
  return isOpen(status as HitlStatus) || execution_status === 'pending_hitl';
}

/** An open one goes with whatever of it is erased; one that is approved, with what would run. */
function toEnd({ row, changes }: Touched): { id: string; executionId: string }[] {
  const ends = isLive(row) && (isOpen(row['status'] as HitlStatus) || RUNS_WITH.some((name) => name in changes));
  return ends ? [{ id: row['id'] as string, executionId: row['execution_id'] as string }] : [];
}
