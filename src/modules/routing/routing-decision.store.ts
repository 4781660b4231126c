import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { Rejected, Scored } from '../../domain/routing/score.js';
import { type Scope, scopeCondition } from '../../platform/auth/access/scope.js';
import { Batcher, type ItemOutcome } from '../../platform/database/batching/batcher.js';
import { Statements } from '../../platform/database/statements/statements.js';
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
  candidates: readonly LoggedCandidate[];
  askedBy: string;
  createdAt: Date;
}

/** The log holds so many decisions of an organization (interface, section 8). */
export const LOG_LENGTH = 200;

const COLUMNS = `d.organization_id as "organizationId", d.id, d.capabilities, d.description, d.tags, d.team_id as "teamId", d.exclude,
  d.agent_id as "agentId", d.agent_name as "agentName", d.score, d.candidates, d.asked_by as "askedBy", d.created_at as "createdAt"`;

/** $1: rows as JSON. Of each organization those go that the log has no room for: what is written here is not seen here, but counted. */
const WRITE = `
  with written as (
    insert into routing_decisions select * from json_populate_recordset(null::routing_decisions, $1) returning organization_id),
  added as (select organization_id, count(*) as n from written group by 1)
  delete from routing_decisions where ctid = any (array(
    select old.ctid from added cross join lateral (
      select d.ctid from routing_decisions d where d.organization_id = added.organization_id and d.id < (
        select id from routing_decisions where organization_id = added.organization_id
        order by id desc offset ${LOG_LENGTH - 1} - n limit 1)
      for update skip locked) old))`;

@Injectable()
export class RoutingDecisionStore {
  private readonly batcher = new Batcher<RoutingDecision, void>({
    lanes: 1, largest: 64, longest: 5_000, keyOf: () => '', process: (decisions) => this.process(decisions),
  });

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly statements: Statements,
  ) {}

  /** Writes a decision, with those of other calls, and forgets those that the log has no room for. Resolves once it is durable. */
  append(decision: RoutingDecision): Promise<void> {
    return this.batcher.submit(decision);
  }

  /** The same within a unit of work. */
  insert(tx: Tx, decision: RoutingDecision): void {
    tx.queue(WRITE, [rowsOf([decision])]);
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
  private async process(decisions: readonly RoutingDecision[]): Promise<ItemOutcome<void>[]> {
    await this.statements.run({ name: 'routing-log-1', text: WRITE }, [rowsOf(decisions)]);
    return decisions.map(() => ({ kind: 'answer', answer: undefined }));
  }
}

function rowsOf(decisions: readonly RoutingDecision[]): string {
  return JSON.stringify(decisions.map((decision) => ({
    organization_id: decision.organizationId, id: decision.id, capabilities: decision.capabilities, description: decision.description,
    tags: decision.tags, team_id: decision.teamId, exclude: decision.exclude, agent_id: decision.agentId, agent_name: decision.agentName,
    score: decision.score, candidates: decision.candidates, asked_by: decision.askedBy, created_at: decision.createdAt,
  })));
}
