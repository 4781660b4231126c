import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { isHardcoded } from '../../domain/gate/catalogue.js';
import { grantEffectiveMode } from '../../domain/gate/decide.js';
import type { RiskLevel } from '../../domain/gate/vocabulary.js';
import { type Scope, scopeCondition } from '../../platform/auth/scope.js';
import { pageOf } from '../../platform/database/paged.js';
import type { Page, PageRequest } from '../../platform/http/pagination.js';
import type { GrantEntity } from '../capabilities/grant.entity.js';
import { type GrantReply, presentGrant } from './grants.presenter.js';

const COLUMNS = `g.organization_id as "organizationId", g.id, g.agent_id as "agentId", g.capability, g.hitl_mode as "hitlMode",
  g.timeout_seconds as "timeoutSeconds", g.timeout_action as "timeoutAction", g.conditions, g.expires_at as "expiresAt", g.version,
  g.granted_at as "grantedAt", g.granted_by as "grantedBy", g.revoked_at as "revokedAt", g.revoked_by as "revokedBy",
  a.risk_level as "riskLevel"`;

/** Active grants, with the mode that each has for its agent now. */
@Injectable()
export class GrantsQuery {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  async list(scope: Scope, filter: { capability?: string; agentId?: string }, page: PageRequest): Promise<Page<GrantReply>> {
    const within = scopeCondition(scope, { organization: 'g.organization_id', agent: 'g.agent_id' }, 3);
    const { rows, ...rest } = await pageOf<GrantEntity & { riskLevel: RiskLevel }>(
      this.dataSource,
      {
        columns: COLUMNS,
        from: 'capability_grants g join agents a on a.organization_id = g.organization_id and a.id = g.agent_id',
        where: `g.revoked_at is null and (g.expires_at is null or g.expires_at > clock_timestamp()) and a.status <> 'removed'
          and ($1::text is null or g.capability = $1) and ($2::text is null or g.agent_id = $2) and ${within.sql}`,
        parameters: [filter.capability ?? null, filter.agentId ?? null, ...within.parameters],
        id: 'g.id',
      },
      page,
    );
    const present = (row: GrantEntity & { riskLevel: RiskLevel }) =>
      presentGrant(row, grantEffectiveMode(row, { name: row.capability, hardcoded: isHardcoded(row.capability) }, row));
    return { rows: rows.map(present), ...rest };
  }
}
