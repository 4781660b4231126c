import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { Scope } from '../../../platform/auth/access/scope.js';
import { pageOf } from '../../../platform/database/statements/paged.js';
import type { Page, PageRequest } from '../../../platform/http/fields/pagination.js';
import { type Stop, STOP_COLUMNS, stopsWithin } from './stop.store.js';

export interface StopFilter {
  status?: 'active' | 'lifted';
  agentId?: string;
  organizationId?: string;
}

@Injectable()
export class StopsQuery {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  async find(scope: Scope, id: string): Promise<Stop | undefined> {
    const within = stopsWithin(scope, 2);
    const [row] = await this.dataSource.query<Stop[]>(`select ${STOP_COLUMNS} from stops s where s.id = $1 and ${within.sql}`, [
      id, ...within.parameters,
    ]);
    return row;
  }

  async list(scope: Scope, filter: StopFilter, page: PageRequest): Promise<Page<Stop>> {
    const within = stopsWithin(scope, 4);
    const where = `($1::text is null or ($1 = 'active') = (s.lifted_at is null)) and ($2::text is null or s.agent_id = $2)
      and ($3::text is null or s.organization_id = $3) and ${within.sql}`;
    const parameters = [filter.status ?? null, filter.agentId ?? null, filter.organizationId ?? null, ...within.parameters];
    return pageOf<Stop>(this.dataSource, { columns: STOP_COLUMNS, from: 'stops s', where, parameters, id: 's.id' }, page);
  }
}
