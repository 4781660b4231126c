import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { stricterOf, type SeparationOfDuties } from '../../../domain/hitl/duties.js';
import type { Quorum } from '../../../domain/hitl/quorum.js';
import { type JsonObject, shownJson } from '../../../domain/json.js';
import type { ShownExecution, ShownRequest } from '../../../domain/notifications/message.js';
import type { Addressee } from '../senders/sender.js';
import type { ClaimedDelivery } from './delivery.store.js';

interface RequestRow extends Omit<ShownRequest, 'input' | 'approvals' | 'strict' | 'decidedBy'> {
  readonly input: string;
  readonly quorum: Quorum | null;
  readonly given: number;
  readonly separationOfDuties: SeparationOfDuties;
  readonly separationNow: SeparationOfDuties | null;
  readonly decidedBy: string | null;
  readonly deciderName: string | null;
}

interface ExecutionRow extends Omit<ShownExecution, 'input'> {
  readonly input: string;
}

/** A person as people are named to people; what is erased names nobody. */
const NAME_OF = (id: string) =>
  `(select coalesce(u.name, u.email) from users u where u.id = ${id} and u.status <> 'erased' order by u.status = 'active' desc limit 1)`;

const REQUESTS = `
  select q.organization_id as "organizationId", q.id, q.agent_id as "agentId", q.agent_name as "agentName",
    ${NAME_OF('a.owner_id')} as "agentOwner", a.risk_level as "riskLevel", q.flagged, q.capability, q.action, q.hitl_mode as "hitlMode",
    q.runs, q.status, q.input, q.digest, q.version, q.edited_at is not null as "isEdited", q.reasons, q.escalation_level as level,
    q.created_at as "createdAt", q.expires_at as "expiresAt", q.quorum, q.separation_of_duties as "separationOfDuties",
    o.separation_of_duties as "separationNow", q.escalation_reason as "escalationReason", q.decided_by as "decidedBy",
    ${NAME_OF('q.decided_by')} as "deciderName", q.decision_by as "decisionBy", q.decided_at as "decidedAt", q.note,
    q.break_glass as "breakGlass", (select count(*)::integer from hitl_votes v
      where v.organization_id = q.organization_id and v.request_id = q.id and v.version = q.version) as given
  from unnest($1::text[], $2::text[]) as w(organization_id, id)
  join hitl_requests q on q.organization_id = w.organization_id and q.id = w.id
  join organizations o on o.id = q.organization_id
  left join agents a on a.organization_id = q.organization_id and a.id = q.agent_id`;

const EXECUTIONS = `
  select e.organization_id as "organizationId", e.id, e.agent_id as "agentId", coalesce(a.name, '') as "agentName", e.capability, e.action,
    e.status, e.input, e.error, e.closed_at as "closedAt"
  from unnest($1::text[], $2::text[]) as w(organization_id, id)
  join executions e on e.organization_id = w.organization_id and e.id = w.id
  left join agents a on a.organization_id = e.organization_id and a.id = e.agent_id`;

// The account may stand in another organization of the tenant.
const ADDRESSEES = `
  select u.id as "userId", u.email as address, u.name from users u where u.id = any ($1) and u.status = 'active' and u.email is not null`;

/** What messages show, read for a set of deliveries a moment before they are sent. */
export interface MessageFacts {
  readonly requests: ReadonlyMap<string, ShownRequest>;
  readonly executions: ReadonlyMap<string, ShownExecution>;
  readonly addressees: ReadonlyMap<string, Addressee>;
  /** What the channel answered to the first question about a request. */
  readonly receipts: ReadonlyMap<string, string>;
}

/** Reads for deliveries that the worker holds; they name their organizations themselves. */
@Injectable()
export class MessagesQuery {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  async of(deliveries: readonly ClaimedDelivery[]): Promise<MessageFacts> {
    const [requests, executions, addressees, receipts] = await Promise.all([
      this.read<RequestRow>(REQUESTS, deliveries, ({ hitlRequestId }) => hitlRequestId),
      this.read<ExecutionRow>(EXECUTIONS, deliveries, ({ executionId }) => executionId),
      this.addresseesOf(deliveries),
      this.receiptsOf(deliveries),
    ]);
    return {
      requests: new Map(requests.map((row) => [row.id, requestOf(row)])),
      executions: new Map(executions.map((row) => [row.id, { ...row, input: shownJson(row.input) as JsonObject }])),
      addressees, receipts,
    };
  }

  private async read<Row>(
    sql: string, deliveries: readonly ClaimedDelivery[], idOf: (delivery: ClaimedDelivery) => string | null,
  ): Promise<Row[]> {
    const wanted = new Map(deliveries.flatMap((one) => (idOf(one) === null ? [] : [[idOf(one)!, one.organizationId] as const])));
    return wanted.size === 0 ? [] : this.dataSource.query<Row[]>(sql, [[...wanted.values()], [...wanted.keys()]]);
  }

  private async addresseesOf(deliveries: readonly ClaimedDelivery[]): Promise<Map<string, Addressee>> {
    const ids = [...new Set(deliveries.flatMap(({ target }) => (target === '' ? [] : [target])))];
    const rows = ids.length === 0 ? [] : await this.dataSource.query<Addressee[]>(ADDRESSEES, [ids]);
    return new Map(rows.map((row) => [row.userId, row]));
  }

  /** Only a chat whose messages can be changed leaves receipts. */
  private async receiptsOf(deliveries: readonly ClaimedDelivery[]): Promise<Map<string, string>> {
    const [first] = deliveries;
    const ids = deliveries.flatMap(({ hitlRequestId }) => (hitlRequestId === null ? [] : [hitlRequestId]));
    if (first?.channel !== 'slack' || ids.length === 0) return new Map();
    const rows = await this.dataSource.query<{ id: string; receipt: string }[]>(
      `select distinct on (hitl_request_id) hitl_request_id as id, receipt from notification_deliveries
       where organization_id = $1 and channel = $2 and hitl_request_id = any ($3) and receipt is not null
       order by hitl_request_id, id desc`, [first.organizationId, first.channel, ids],
    );
    return new Map(rows.map(({ id, receipt }) => [id, receipt]));
  }
}

function requestOf({ quorum, given, separationOfDuties, separationNow, deciderName, ...row }: RequestRow): ShownRequest {
  return {
    ...row, input: shownJson(row.input) as JsonObject, riskLevel: row.riskLevel ?? 'unknown',
    approvals: quorum === null ? null : { given, needed: quorum.approvals },
    strict: stricterOf(separationOfDuties, separationNow ?? 'standard') === 'strict',
    decidedBy: deciderName ?? row.decidedBy,
  };
}
