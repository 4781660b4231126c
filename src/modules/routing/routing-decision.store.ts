import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { Rejected, Scored } from '../../domain/routing/score.js';
import { type Scope, scopeCondition } from '../../platform/auth/access/scope.js';
import type { Tx } from '../../platform/database/transaction/tx.js';

/** One of those who were looked at, with its score or the reason why it was none. */
export type LoggedCandidate = Scored | Rejected;

/** What was asked for, who was found, and among whom. */
export interface RoutingDecision {
  organizationId: string;
  id: string;
  capabilities: string[];
  description: string | null;
  tags: string[];
  teamId: string | null;
  exclude: string[];
  /** Absent where nobody was eligible. */
  agentId: string | null;
  agentName: string | null;
  score: number | null;
  candidates: LoggedCandidate[];
  askedBy: string;
  createdAt: Date;
}

/** The log holds so many decisions of an organization (interface, section 8). */
export const LOG_LENGTH = 200;

const COLUMNS = `d.organization_id as "organizationId", d.id, d.capabilities, d.description, d.tags, d.team_id as "teamId", d.exclude,
  d.agent_id as "agentId", d.agent_name as "agentName", d.score, d.candidates, d.asked_by as "askedBy", d.created_at as "createdAt"`;

@Injectable()
export class RoutingDecisionStore {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** Writes a decision, and forgets those that the log has no room for. */
  insert(tx: Tx, decision: RoutingDecision): void {
    tx.queue(
      `insert into routing_decisions (organization_id, id, capabilities, description, tags, team_id, exclude, agent_id, agent_name, score,
         candidates, asked_by, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
      [
        decision.organizationId, decision.id, decision.capabilities, decision.description, decision.tags, decision.teamId, decision.exclude,
        decision.agentId, decision.agentName, decision.score, JSON.stringify(decision.candidates), decision.askedBy, decision.createdAt,
      ],
    );
    // Of many at once one forgets, and the others do not wait for it. Both inner questions are asked once: a join would ask for each row.
    tx.queue(
      `delete from routing_decisions where organization_id = $1 and id = any (array(
         select id from routing_decisions where organization_id = $1 and id < (
           select id from routing_decisions where organization_id = $1 order by id desc offset ${LOG_LENGTH - 1} limit 1)
         for update skip locked))`,
      [decision.organizationId],
    );
  }

  /** The last decisions, newest first, of the organizations that the scope reaches: no more than the log of one holds. */
  async latest(scope: Scope, organizationId: string | undefined): Promise<RoutingDecision[]> {
    const within = scopeCondition(scope, { organization: 'd.organization_id' }, 2);
    return this.dataSource.query<RoutingDecision[]>(
      `select ${COLUMNS} from routing_decisions d
       where ($1::text is null or d.organization_id = $1) and ${within.sql} order by d.id desc limit ${LOG_LENGTH}`,
      [organizationId ?? null, ...within.parameters],
    );
  }
}
