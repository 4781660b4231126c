import { Injectable } from '@nestjs/common';
import { type EscalationLevel } from '../../../domain/hitl/transition.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import type { QueuedRequest } from '../../hitl/queue/queue-members.js';
import { agentTiesOf, type TieColumns, tiesOf } from '../../hitl/queue/request-ties.js';
import type { RecordedEvent } from './recorded-event.js';

/** What an event is about, as far as it says who is to be notified. */
export interface Subject {
  readonly ownerId: string | null;
  readonly teamId: string | null;
  /** Of a request. */
  readonly queue?: QueuedRequest;
  /** Of a request: who was asked about it so far. */
  readonly asked?: readonly string[];
}

interface RequestRow extends TieColumns, Record<string, unknown> {
  readonly organizationId: string;
  readonly id: string;
  readonly escalatedTo: string | null;
  readonly ownerNow: string | null;
  readonly registrantNow: string | null;
  readonly teamNow: string | null;
  readonly asked: string[];
}

const REQUESTS = `
  select q.organization_id as "organizationId", q.id, q.escalation_level as "escalationLevel", q.escalated_to as "escalatedTo",
    q.created_at as "createdAt", q.created_by as "createdBy", q.initiators, q.vouched_by as "vouchedBy",
    q.agent_owner_id as "agentOwnerId", q.agent_registered_by as "agentRegisteredBy", q.team_id as "teamId",
    q.separation_of_duties as "separationOfDuties", q.task_owner_id as "taskOwnerId",
    a.owner_id as "ownerNow", a.registered_by as "registrantNow", a.team_id as "teamNow",
    array(select n.user_id from notifications n where n.organization_id = q.organization_id and n.hitl_request_id = q.id
            and n.event in ('hitl.request.created', 'hitl.request.escalated', 'hitl.request.reminder')
          union
          select d.target from notification_deliveries d where d.organization_id = q.organization_id and d.hitl_request_id = q.id
            and d.channel = 'email' and d.event in ('hitl.request.created', 'hitl.request.escalated', 'hitl.request.reminder')) as asked
  from unnest($1::text[], $2::text[]) as w(organization_id, id)
  join hitl_requests q on q.organization_id = w.organization_id and q.id = w.id
  left join agents a on a.organization_id = q.organization_id and a.id = q.agent_id`;

const EXECUTIONS = `
  select e.organization_id as "organizationId", e.id, a.owner_id as "ownerId", a.team_id as "teamId"
  from unnest($1::text[], $2::text[]) as w(organization_id, id)
  join executions e on e.organization_id = w.organization_id and e.id = w.id
  left join agents a on a.organization_id = e.organization_id and a.id = e.agent_id`;

/** Reads what events are about, inside the unit of work that records whom they go to. No tables of its own. */
@Injectable()
export class SubjectsQuery {
  /** @returns by the ids of requests and executions; what is gone has nobody to notify */
  async read(tx: Tx, events: readonly RecordedEvent[]): Promise<Map<string, Subject>> {
    const requests = events.filter(({ hitlRequestId }) => hitlRequestId !== undefined);
    const executions = events.filter(({ executionId }) => executionId !== undefined);
    const found = new Map<string, Subject>();
    if (requests.length > 0) {
      const rows = await tx.query<RequestRow>(REQUESTS, columns(requests, ({ hitlRequestId }) => hitlRequestId!));
      for (const row of rows) found.set(row.id, requestSubject(row));
    }
    if (executions.length > 0) {
      const rows = await tx.query<Subject & { id: string }>(EXECUTIONS, columns(executions, ({ executionId }) => executionId!));
      for (const { id, ownerId, teamId } of rows) found.set(id, { ownerId, teamId });
    }
    return found;
  }
}

function columns(events: readonly RecordedEvent[], idOf: (event: RecordedEvent) => string): unknown[] {
  const keys = new Map(events.map((event) => [idOf(event), event.organizationId]));
  return [[...keys.values()], [...keys.keys()]];
}

function requestSubject(row: RequestRow): Subject {
  const { organizationId, escalationLevel, escalatedTo, ownerNow, registrantNow, teamNow, asked } = row;
  const agent = agentTiesOf({ ownerId: ownerNow, registeredBy: registrantNow, teamId: teamNow });
  const queue = { organizationId, level: escalationLevel as EscalationLevel, escalatedTo, ties: tiesOf(row), agent };
  return { ownerId: ownerNow, teamId: teamNow, queue, asked };
}
