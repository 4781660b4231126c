import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type Scope, scopeCondition } from '../../platform/auth/access/scope.js';
import { pageOf } from '../../platform/database/statements/paged.js';
import type { Page, PageRequest } from '../../platform/http/fields/pagination.js';
import { EXECUTION_COLUMNS } from './execution-columns.js';
import type { ExecutionEntity } from './execution.entity.js';

export interface ExecutionFilter {
  organizationId?: string;
  agentId?: string;
  capability?: string;
  status?: string;
  from?: Date;
  to?: Date;
}

@Injectable()
export class ExecutionsQuery {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  async find(scope: Scope, id: string): Promise<ExecutionEntity | undefined> {
    const within = scopeCondition(scope, { organization: 'e.organization_id', agent: 'e.agent_id' }, 2);
    // The key begins with the organization, so all of them are searched for callers who see every organization.
    const [row] = await this.dataSource.query<ExecutionEntity[]>(
      `select ${EXECUTION_COLUMNS} from executions e
       where e.id = $1 and e.organization_id in (select id from organizations) and ${within.sql}`,
      [id, ...within.parameters],
    );
    return row;
  }

  async list(scope: Scope, filter: ExecutionFilter, page: PageRequest): Promise<Page<ExecutionEntity>> {
    const within = scopeCondition(scope, { organization: 'e.organization_id', agent: 'e.agent_id' }, 7);
    return pageOf<ExecutionEntity>(
      this.dataSource,
      {
        columns: EXECUTION_COLUMNS,
        from: 'executions e',
        where: `($1::text is null or e.agent_id = $1) and ($2::text is null or e.capability = $2) and ($3::text is null or e.status = $3)
          and ($4::timestamptz is null or e.created_at >= $4) and ($5::timestamptz is null or e.created_at <= $5)
          and ($6::text is null or e.organization_id = $6) and ${within.sql}`,
        parameters: [
          filter.agentId ?? null, filter.capability ?? null, filter.status ?? null, filter.from ?? null, filter.to ?? null,
          filter.organizationId ?? null, ...within.parameters,
        ],
        id: 'e.id',
      },
      page,
    );
  }
}
