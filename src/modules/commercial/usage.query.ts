import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { firstIdAt } from '../../domain/ids.js';
import { type Scope, scopeCondition } from '../../platform/auth/access/scope.js';

export interface UsageCounts {
  readonly users: number;
  readonly agents: number;
  readonly organizations: number;
  readonly teams: number;
  readonly executions: number;
}

export interface Usage extends UsageCounts {
  readonly from: Date;
  readonly to: Date;
}

/** What a tenant has and does, in all of its organizations. */
@Injectable()
export class UsageQuery {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** Executions by their ids, which sort by the time they were made: a count over a part of the key. Both ends belong to the time. */
  async read(scope: Scope, tenantId: string, from: Date, to: Date): Promise<Usage> {
    const within = scopeCondition(scope, { organization: 'o.id' }, 4);
    const [counts] = await this.dataSource.query<[UsageCounts]>(
      `with own as (select o.id from organizations o where o.tenant_id = $1 and ${within.sql})
       select
         (select count(*) from users u where u.organization_id in (select id from own) and u.status = 'active')::integer as users,
         (select count(*) from agents a where a.organization_id in (select id from own) and a.status <> 'removed')::integer as agents,
         (select count(*) from own)::integer as organizations,
         (select count(*) from teams t where t.organization_id in (select id from own))::integer as teams,
         (select coalesce(sum(e.count), 0) from own cross join lateral (
            select count(*) from executions x where x.organization_id = own.id and x.id >= $2 and x.id < $3) e)::integer as executions`,
      [tenantId, firstIdAt('exec', from.getTime()), firstIdAt('exec', to.getTime() + 1), ...within.parameters],
    );
    return { ...counts, from, to };
  }
}
