import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { RiskLevel } from '../../domain/gate/vocabulary.js';
import type { JsonObject } from '../../domain/json.js';
import { type Scope, scopeCondition } from '../../platform/auth/access/scope.js';
import { pageOf } from '../../platform/database/statements/paged.js';
import type { Page, PageRequest } from '../../platform/http/fields/pagination.js';
import type { AgentStatus } from './agent.entity.js';

export interface AgentRow {
  id: string;
  organizationId: string;
  name: string;
  description: string | null;
  riskLevel: RiskLevel;
  status: AgentStatus;
  tags: string[];
  metadata: JsonObject;
  capabilities: string[];
  ownerId: string | null;
  teamId: string | null;
  nodeLastSeen: Date | null;
  /** What its node says of itself, where that was read. */
  nodeLoad?: number | null;
  nodeVersion?: string | null;
  createdAt: Date;
  updatedAt: Date;
}

export interface AgentFilter {
  status?: string;
  riskLevel?: string;
  ownerId?: string;
  teamId?: string;
  organizationId?: string;
}

const COLUMNS = `a.id, a.organization_id as "organizationId", a.name, a.description, a.risk_level as "riskLevel", a.status, a.tags,
  a.metadata, a.owner_id as "ownerId", a.team_id as "teamId", a.node_last_seen as "nodeLastSeen",
  a.node_load as "nodeLoad", a.node_version as "nodeVersion",
  a.created_at as "createdAt", a.updated_at as "updatedAt",
  array(select distinct g.capability from capability_grants g
        where g.organization_id = a.organization_id and (g.agent_id = a.id or g.team_id = a.team_id) and g.revoked_at is null
          and (g.expires_at is null or g.expires_at > clock_timestamp()) order by 1) as capabilities`;

@Injectable()
export class AgentsQuery {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  async find(scope: Scope, id: string): Promise<AgentRow | undefined> {
    const within = scopeCondition(scope, { organization: 'a.organization_id', agent: 'a.id' }, 2);
    const [row] = (await this.dataSource.query(
      `select ${COLUMNS} from agents a where a.id = $1 and a.status <> 'removed' and ${within.sql}`,
      [id, ...within.parameters],
    )) as AgentRow[];
    return row;
  }

  /** Whether there is an agent of high risk that may still act. */
  async hasHighRisk(scope: Scope): Promise<boolean> {
    const within = scopeCondition(scope, { organization: 'a.organization_id', agent: 'a.id' }, 1);
    const [row] = await this.dataSource.query<[{ found: boolean }]>(
      `select exists (select from agents a where a.risk_level = 'high' and a.status <> 'removed' and ${within.sql}) as found`,
      within.parameters,
    );
    return row.found;
  }

  /** Newest first: ids sort by the time they were made. */
  async list(scope: Scope, filter: AgentFilter, page: PageRequest): Promise<Page<AgentRow>> {
    const within = scopeCondition(scope, { organization: 'a.organization_id', agent: 'a.id' }, 6);
    const where = `a.status <> 'removed' and ($1::text is null or a.status = $1) and ($2::text is null or a.risk_level = $2)
      and ($3::text is null or a.organization_id = $3) and ($4::text is null or a.owner_id = $4)
      and ($5::text is null or a.team_id = $5) and ${within.sql}`;
    const { status, riskLevel, organizationId, ownerId, teamId } = filter;
    const wanted = [status, riskLevel, organizationId, ownerId, teamId].map((value) => value ?? null);
    const parameters = [...wanted, ...within.parameters];
    return pageOf(this.dataSource, { columns: COLUMNS, from: 'agents a', where, parameters, id: 'a.id' }, page);
  }
}
