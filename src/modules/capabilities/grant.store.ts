import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, IsNull } from 'typeorm';
import { type Scope, scopeCondition } from '../../platform/auth/access/scope.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { GrantEntity } from './grant.entity.js';

const ALIVE = 'g.revoked_at is null and (g.expires_at is null or g.expires_at > clock_timestamp())';

/** Who a grant is of: an agent, or a team and so every agent of it. */
export type Holder =
  | { readonly organizationId: string; readonly agentId: string }
  | { readonly organizationId: string; readonly teamId: string };

@Injectable()
export class GrantStore {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** The one grant that is not revoked; it may have run out. */
  async unrevoked(tx: Tx, holder: Holder, capability: string): Promise<GrantEntity | null> {
    return tx.manager.getRepository(GrantEntity).findOneBy({ ...holder, capability, revokedAt: IsNull() });
  }

  async find(scope: Scope, id: string): Promise<GrantEntity | null> {
    const within = scopeCondition(scope, { organization: 'g.organization_id', agent: 'g.agent_id' }, 2);
    const [row] = (await this.dataSource.query(
      `select g.organization_id as "organizationId", g.id from capability_grants g
       where g.id = $1 and g.revoked_at is null and g.organization_id in (select id from organizations) and ${within.sql}`,
      [id, ...within.parameters],
    )) as { organizationId: string; id: string }[];
    return row ? this.dataSource.getRepository(GrantEntity).findOneBy(row) : null;
  }

  async insert(tx: Tx, grant: GrantEntity): Promise<void> {
    await tx.manager.getRepository(GrantEntity).insert(grant);
  }

  async update(tx: Tx, grant: GrantEntity): Promise<void> {
    const { organizationId, id, ...rest } = grant;
    await tx.manager.getRepository(GrantEntity).update({ organizationId, id }, rest);
  }

  /** Ends every grant of the team that is not revoked. @returns them as they were */
  async revokeOfTeam(tx: Tx, organizationId: string, teamId: string, actorId: string): Promise<GrantEntity[]> {
    const grants = await tx.manager.getRepository(GrantEntity).findBy({ organizationId, teamId, revokedAt: IsNull() });
    const revokedAt = await tx.now();
    for (const grant of grants) await this.update(tx, { ...grant, revokedAt, revokedBy: actorId });
    return grants;
  }

  /** Every grant of the agent's own that is not revoked. */
  async ofAgent(tx: Tx, organizationId: string, agentId: string): Promise<GrantEntity[]> {
    return tx.manager.getRepository(GrantEntity).findBy({ organizationId, agentId, revokedAt: IsNull() });
  }

  /** Names of the capabilities that the agent holds at this moment, itself or by its team, sorted. */
  async namesOf(tx: Tx, organizationId: string, agentId: string, teamId: string | null): Promise<string[]> {
    const rows = await tx.query<{ capability: string }>(
      `select distinct g.capability from capability_grants g
       where g.organization_id = $1 and (g.agent_id = $2 or g.team_id = $3) and ${ALIVE} order by 1`,
      [organizationId, agentId, teamId],
    );
    return rows.map((row) => row.capability);
  }

  async anyoneHolds(tx: Tx, organizationId: string, capability: string): Promise<boolean> {
    const rows = await tx.query(
      `select 1 from capability_grants g where g.organization_id = $1 and g.capability = $2 and ${ALIVE} limit 1`,
      [organizationId, capability],
    );
    return rows.length > 0;
  }
}
