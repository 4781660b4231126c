import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { isHardcoded } from '../../../domain/gate/catalogue.js';
import { grantEffectiveMode } from '../../../domain/gate/decide.js';
import type { RiskLevel } from '../../../domain/gate/vocabulary.js';
import { type Scope, scopeCondition } from '../../../platform/auth/access/scope.js';
import { pageOf } from '../../../platform/database/statements/paged.js';
import type { Page, PageRequest } from '../../../platform/http/fields/pagination.js';
import type { GrantEntity } from '../../capabilities/grant.entity.js';
import { LimitRoomQuery } from '../../capabilities/limit-room.query.js';
import { type GrantReply, presentGrant, WITHOUT_AGENT } from './grants.presenter.js';

const COLUMNS = `g.organization_id as "organizationId", g.id, g.agent_id as "agentId", g.team_id as "teamId", g.capability,
  g.hitl_mode as "hitlMode", g.timeout_seconds as "timeoutSeconds", g.timeout_action as "timeoutAction", g.conditions, g.limits,
  g.quorum, g.reminders,
  g.expires_at as "expiresAt", g.version, g.granted_at as "grantedAt", g.granted_by as "grantedBy", g.revoked_at as "revokedAt",
  g.revoked_by as "revokedBy", a.risk_level as "riskLevel"`;
const ACTIVE = 'revoked_at is null and (expires_at is null or expires_at > clock_timestamp())';

/** Grants as they were made: each agent's own, and each team's once. */
const GRANTED = {
  from: `(select * from capability_grants where ${ACTIVE}) g
    left join agents a on a.organization_id = g.organization_id and a.id = g.agent_id`,
  where: `(g.team_id is not null or a.status <> 'removed')`,
};

/** Grants by which agents act: their own, and those of their teams where they have none of their own. */
const EFFECTIVE = {
  from: `agents a join (select * from capability_grants where ${ACTIVE}) g
    on g.organization_id = a.organization_id and (g.agent_id = a.id or g.team_id = a.team_id)`,
  where: `a.status <> 'removed' and (g.agent_id is not null or not exists (
    select from capability_grants own where own.organization_id = a.organization_id and own.agent_id = a.id
      and own.capability = g.capability and own.revoked_at is null and (own.expires_at is null or own.expires_at > clock_timestamp())))`,
};

export interface GrantFilter {
  capability?: string;
  agentId?: string;
  teamId?: string;
}

type Row = GrantEntity & { riskLevel: RiskLevel | null };

/** Active grants, with the mode that each has now. */
@Injectable()
export class GrantsQuery {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly room: LimitRoomQuery,
  ) {}

  async list(scope: Scope, filter: GrantFilter, page: PageRequest): Promise<Page<GrantReply>> {
    // An agent that names no agent lists its own grants.
    const agentId = filter.agentId ?? scope.agentId;
    const { from, where } = agentId === undefined ? GRANTED : EFFECTIVE;
    const within = scopeCondition(scope, { organization: 'g.organization_id', agent: 'a.id' }, 4);
    const { rows, ...rest } = await pageOf<Row>(
      this.dataSource,
      {
        columns: COLUMNS,
        from,
        where: `${where} and ($1::text is null or g.capability = $1) and ($2::text is null or a.id = $2)
          and ($3::text is null or g.team_id = $3) and ${within.sql}`,
        parameters: [filter.capability ?? null, agentId ?? null, filter.teamId ?? null, ...within.parameters],
        id: 'g.id',
      },
      page,
    );
    const usages = await this.room.ofGrants(rows);
    return { rows: rows.map((row, i) => ({ ...present(row), ...(usages[i]!.length > 0 ? { usage: usages[i]! } : {}) })), ...rest };
  }
}

function present({ riskLevel, ...grant }: Row): GrantReply {
  const definition = { name: grant.capability, hardcoded: isHardcoded(grant.capability) };
  return presentGrant(grant, grantEffectiveMode(grant, definition, riskLevel === null ? WITHOUT_AGENT : { riskLevel }));
}
