import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type Scope, scopeCondition } from '../../platform/auth/access/scope.js';
import { pageOf } from '../../platform/database/statements/paged.js';
import type { Page, PageRequest } from '../../platform/http/fields/pagination.js';
import { Problem } from '../../platform/http/reply/problem.js';
import type { OrganizationEntity } from './organization.entity.js';

const COLUMNS = `o.id, o.name, o.tenant_id as "tenantId", o.separation_of_duties as "separationOfDuties",
  o.decide_by_mail as "decideByMail", o.scan_pii as "scanPii", o.pii, o.created_at as "createdAt", o.updated_at as "updatedAt"`;

@Injectable()
export class OrganizationsQuery {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** Where something new belongs: the caller's organization, or the installation's first one for root. */
  async homeOf(scope: Scope): Promise<string> {
    if (scope.organizations !== 'all') return scope.organizations[0]!;
    const [instance] = (await this.dataSource.query('select first_organization_id as id from instance')) as [{ id: string }];
    return instance.id;
  }

  /**
   * The organization that a call names, or the caller's own.
   *
   * @throws Problem NOT_FOUND for one that the caller does not reach
   */
  async choose(scope: Scope, named: string | undefined): Promise<string> {
    if (named === undefined) return this.homeOf(scope);
    const reached = scope.organizations === 'all' || scope.organizations.includes(named);
    const rows = reached ? await this.dataSource.query<unknown[]>('select 1 from organizations where id = $1', [named]) : [];
    if (rows.length === 0) throw new Problem('NOT_FOUND', 'There is no such organization.');
    return named;
  }

  async find(scope: Scope, id: string): Promise<OrganizationEntity | undefined> {
    const within = scopeCondition(scope, { organization: 'o.id' }, 2);
    const [row] = (await this.dataSource.query(`select ${COLUMNS} from organizations o where o.id = $1 and ${within.sql}`, [
      id, ...within.parameters,
    ])) as OrganizationEntity[];
    return row;
  }

  async list(scope: Scope, page: PageRequest): Promise<Page<OrganizationEntity>> {
    const within = scopeCondition(scope, { organization: 'o.id' }, 1);
    const source = { columns: COLUMNS, from: 'organizations o', where: within.sql, parameters: within.parameters, id: 'o.id' };
    return pageOf<OrganizationEntity>(this.dataSource, source, page);
  }
}
