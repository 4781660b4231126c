import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type Scope, scopeCondition } from '../../platform/auth/access/scope.js';
import { pageOf } from '../../platform/database/statements/paged.js';
import type { Page, PageRequest } from '../../platform/http/fields/pagination.js';
import { Problem } from '../../platform/http/reply/problem.js';
import { type Tenant, TENANT_COLUMNS } from '../organizations/tenant.store.js';

/** A tenant is within a scope that reaches the organization it began with. */
const SCOPE_COLUMNS = { organization: 't.first_organization_id' };

@Injectable()
export class TenantsQuery {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** @throws Problem NOT_FOUND */
  async read(scope: Scope, id: string): Promise<Tenant> {
    const within = scopeCondition(scope, SCOPE_COLUMNS, 2);
    const [row] = await this.dataSource.query<Tenant[]>(`select ${TENANT_COLUMNS} from tenants t where t.id = $1 and ${within.sql}`, [
      id, ...within.parameters,
    ]);
    if (!row) throw new Problem('NOT_FOUND', 'There is no such tenant.');
    return row;
  }

  /** Newest first: ids sort by the time they were made. */
  async list(scope: Scope, status: Tenant['status'], page: PageRequest): Promise<Page<Tenant>> {
    const within = scopeCondition(scope, SCOPE_COLUMNS, 2);
    const source = {
      columns: TENANT_COLUMNS, from: 'tenants t', where: `t.status = $1 and ${within.sql}`, parameters: [status, ...within.parameters],
      id: 't.id',
    };
    return pageOf<Tenant>(this.dataSource, source, page);
  }
}
