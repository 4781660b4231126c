import { Injectable } from '@nestjs/common';
import { type Scope, scopeCondition } from '../../../platform/auth/access/scope.js';
import { Statements } from '../../../platform/database/statements/statements.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { HitlRequestEntity } from './hitl-request.entity.js';
import { REQUEST_COLUMNS } from './request-columns.js';

export interface RequestRef {
  organizationId: string;
  agentId: string;
  id: string;
  executionId: string;
}

/** With the capability, by which facts are read; a request's capability never changes. */
export interface RequestToDecide extends RequestRef {
  capability: string;
  taskId: string | null;
  /** The agents before its own in the chain of its task. */
  taskChain: string[] | null;
}

/** What facts a decision on the request rests on. */
export function factsWantedOf({ organizationId, agentId, capability, taskId, taskChain }: TaskedRequest) {
  return { organizationId, agentId, capability, ...(taskId === null ? {} : { task: { id: taskId, chain: taskChain ?? [] } }) };
}

type TaskedRequest = Pick<RequestToDecide, 'organizationId' | 'agentId' | 'capability' | 'taskId' | 'taskChain'>;

/** One request, as it was read and as it is to be. `withinWindow`: the update counts only while the window is open. */
export interface RequestUpdate {
  from: HitlRequestEntity;
  next: HitlRequestEntity;
  withinWindow: boolean;
}

const UPDATE = `
  update hitl_requests q set status = n.status, escalation_level = n.escalation_level, expires_at = n.expires_at,
    remind_at = n.remind_at, reminded_seconds = n.reminded_seconds, decision_outcome = n.decision_outcome,
    decision_by = n.decision_by, decided_by = n.decided_by, decided_at = n.decided_at, note = n.note,
    decision_entry_id = n.decision_entry_id, break_glass = n.break_glass, decider_level = n.decider_level,
    escalated_to = n.escalated_to, escalated_at = n.escalated_at, escalation_reason = n.escalation_reason
  from json_to_recordset($1) as n(organization_id text, id text, from_status text, from_version integer, within_window boolean,
    status text, escalation_level integer, expires_at timestamptz, remind_at timestamptz, reminded_seconds integer,
    decision_outcome text, decision_by text, decided_by text, decided_at timestamptz, note text, decision_entry_id text,
    break_glass boolean, decider_level integer, escalated_to text, escalated_at timestamptz, escalation_reason text)
  where q.organization_id = n.organization_id and q.id = n.id and q.status = n.from_status and q.version = n.from_version
    and (not n.within_window or q.expires_at > clock_timestamp())
  returning q.id`;

@Injectable()
export class HitlRequestStore {
  constructor(private readonly statements: Statements) {}

  /** @throws Problem NOT_FOUND */
  async findRef(scope: Scope, id: string): Promise<RequestToDecide> {
    const within = scopeCondition(scope, { organization: 'q.organization_id', agent: 'q.agent_id' }, 2);
    const [row] = await this.statements.byKey<RequestToDecide>(
      `select q.organization_id as "organizationId", q.agent_id as "agentId", q.id, q.execution_id as "executionId", q.capability,
         q.task_id as "taskId", q.task_chain as "taskChain"
       from hitl_requests q where q.id = $1 and q.organization_id in (select id from organizations) and ${within.sql}`,
      [id, ...within.parameters],
    );
    if (!row) throw new Problem('NOT_FOUND', 'There is no such request.');
    return row;
  }

  /** Reads the row and locks it until this unit of work ends. */
  async read(tx: Tx, ref: Pick<RequestRef, 'organizationId' | 'id'>): Promise<HitlRequestEntity> {
    const [request] = await this.readAll(tx, [ref]);
    if (!request) throw new Problem('NOT_FOUND', 'There is no such request.');
    return request;
  }

  /** Reads rows and locks them, in the order of their keys, until this unit of work ends; missing rows are left out. */
  async readAll(tx: Tx, refs: readonly Pick<RequestRef, 'organizationId' | 'id'>[]): Promise<HitlRequestEntity[]> {
    if (refs.length === 0) return [];
    // Plain rows: hydrated, hundreds of forty columns each cost more than the statement.
    return tx.query<HitlRequestEntity & Record<string, unknown>>(
      `select ${REQUEST_COLUMNS} from hitl_requests q where (q.organization_id, q.id) in (select * from unnest($1::text[], $2::text[]))
       order by q.organization_id, q.id for update of q`,
      [refs.map((ref) => ref.organizationId), refs.map((ref) => ref.id)],
    );
  }

  /**
   * Updates requests that were locked when they were read, so that two decisions exclude each other. Status and version are compared
   * too; and where a person decides, the window, by the database's clock at this moment.
   *
   * @returns ids of the updated requests: the window of the others has closed meanwhile
   */
  async update(tx: Tx, updates: readonly RequestUpdate[]): Promise<Set<string>> {
    const rows = await tx.query<{ id: string }>(UPDATE, [JSON.stringify(updates.map(rowOf))]);
    return new Set(rows.map(({ id }) => id));
  }

  /**
   * Updates one request without waiting for the answer.
   *
   * @param refused the error that fails the unit of work when the window has closed
   */
  updateOrFail(tx: Tx, update: RequestUpdate, refused: () => Error): void {
    tx.assertRowCount(UPDATE, [JSON.stringify([rowOf(update)])], 1, refused);
  }

  /**
   * Writes the next version of a request that was locked when it was read.
   *
   * @throws Error when the row has changed since it was read. The lock rules that out; should it ever fail to, the unit of work is
   * rolled back
   */
  async rewrite(tx: Tx, { organizationId, id, version, status }: HitlRequestEntity, next: HitlRequestEntity): Promise<void> {
    const { input, nonce, digest, reasons, hitlMode, initiators, requestedInput, editedBy, editedAt, editDiff } = next;
    const edit = { requestedInput, editedBy, editedAt, editDiff };
    const content = { input, nonce, digest, version: next.version, reasons, hitlMode, initiators, ...edit };
    const result = await tx.manager.getRepository(HitlRequestEntity).update({ organizationId, id, version, status }, content as object);
    if (result.affected !== 1) throw new Error(`request ${id} was no longer version ${version}`);
  }

  /** The agent's open requests, for when it is removed or goes to another organization. */
  async openOf(tx: Tx, organizationId: string, agentId: string): Promise<RequestRef[]> {
    return tx.query<RequestRef & Record<string, unknown>>(
      `select q.organization_id as "organizationId", q.agent_id as "agentId", q.id, q.execution_id as "executionId"
       from hitl_requests q where q.organization_id = $1 and q.agent_id = $2 and q.status in ('pending', 'escalated') order by q.id`,
      [organizationId, agentId],
    );
  }
}

function rowOf({ from, next, withinWindow }: RequestUpdate): Record<string, unknown> {
  return {
    organization_id: from.organizationId, id: from.id, from_status: from.status, from_version: from.version, within_window: withinWindow,
    status: next.status, escalation_level: next.escalationLevel, expires_at: next.expiresAt, remind_at: next.remindAt,
    reminded_seconds: next.remindedSeconds, decision_outcome: next.decisionOutcome, decision_by: next.decisionBy,
    decided_by: next.decidedBy, decided_at: next.decidedAt, note: next.note, decision_entry_id: next.decisionEntryId,
    break_glass: next.breakGlass, decider_level: next.deciderLevel, escalated_to: next.escalatedTo, escalated_at: next.escalatedAt,
    escalation_reason: next.escalationReason,
  };
}
