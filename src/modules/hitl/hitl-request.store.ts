import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type Scope, scopeCondition } from '../../platform/auth/scope.js';
import type { Tx } from '../../platform/database/tx.js';
import { Problem } from '../../platform/http/problem.js';
import { HitlRequestEntity } from './hitl-request.entity.js';

export interface RequestPlace {
  organizationId: string;
  agentId: string;
  id: string;
  executionId: string;
}

@Injectable()
export class HitlRequestStore {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** @throws Problem NOT_FOUND */
  async place(scope: Scope, id: string): Promise<RequestPlace> {
    const within = scopeCondition(scope, { organization: 'q.organization_id', agent: 'q.agent_id' }, 2);
    const [row] = (await this.dataSource.query(
      `select q.organization_id as "organizationId", q.agent_id as "agentId", q.id, q.execution_id as "executionId"
       from hitl_requests q where q.id = $1 and q.organization_id in (select id from organizations) and ${within.sql}`,
      [id, ...within.parameters],
    )) as RequestPlace[];
    if (!row) throw new Problem('NOT_FOUND', 'There is no such request.');
    return row;
  }

  /** The row, locked until this work ends. */
  async read(tx: Tx, { organizationId, id }: Pick<RequestPlace, 'organizationId' | 'id'>): Promise<HitlRequestEntity> {
    const request = await tx.manager
      .getRepository(HitlRequestEntity)
      .findOne({ where: { organizationId, id }, lock: { mode: 'pessimistic_write' } });
    if (!request) throw new Problem('NOT_FOUND', 'There is no such request.');
    return request;
  }

  /**
   * Ends or moves a request that `read` has locked, which keeps two decisions apart. Status and content's version, which no
   * move raises, are compared besides; and where a person decides, the window, by the database's clock of this very moment.
   *
   * @returns false when the window has closed meanwhile
   */
  async move(tx: Tx, from: HitlRequestEntity, next: HitlRequestEntity, withinWindow: boolean): Promise<boolean> {
    const rows = await tx.query(
      `update hitl_requests set status = $5, escalation_level = $6, expires_at = $7, decision_outcome = $8, decision_by = $9,
         decided_by = $10, decided_at = $11, note = $12, decision_entry_id = $13, break_glass = $15, decider_level = $16,
         escalated_at = $17, escalation_reason = $18
       where organization_id = $1 and id = $2 and status = $3 and version = $4 and (not $14 or expires_at > clock_timestamp())
       returning id`,
      [
        from.organizationId, from.id, from.status, from.version, next.status, next.escalationLevel, next.expiresAt, next.decisionOutcome,
        next.decisionBy, next.decidedBy, next.decidedAt, next.note, next.decisionEntryId, withinWindow, next.breakGlass,
        next.deciderLevel, next.escalatedAt, next.escalationReason,
      ],
    );
    return rows.length === 1;
  }

  /**
   * Open requests whose window is over, earliest first; not those that a stop holds, whose clock stands still. Without a lock:
   * each is ended in a unit of work of its own.
   */
  async due(scope: Scope, limit: number): Promise<RequestPlace[]> {
    const within = scopeCondition(scope, { organization: 'q.organization_id', agent: 'q.agent_id' }, 2);
    return (await this.dataSource.query(
      `select q.organization_id as "organizationId", q.agent_id as "agentId", q.id, q.execution_id as "executionId"
       from hitl_requests q where q.status in ('pending', 'escalated') and q.expires_at <= clock_timestamp() and ${within.sql}
         and not exists (select from stops s where s.organization_id in (q.organization_id, 'org_platform') and s.lifted_at is null
                           and (s.agent_id is null or s.agent_id = q.agent_id))
       order by q.expires_at limit $1`,
      [limit, ...within.parameters],
    )) as RequestPlace[];
  }

  /** The agent's open requests, for when it is removed or goes to another organization. */
  async openOf(tx: Tx, organizationId: string, agentId: string): Promise<RequestPlace[]> {
    return tx.query<RequestPlace & Record<string, unknown>>(
      `select q.organization_id as "organizationId", q.agent_id as "agentId", q.id, q.execution_id as "executionId"
       from hitl_requests q where q.organization_id = $1 and q.agent_id = $2 and q.status in ('pending', 'escalated') order by q.id`,
      [organizationId, agentId],
    );
  }
}
