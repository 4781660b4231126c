import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type Scope, scopeCondition } from '../../../platform/auth/access/scope.js';
import { pageOf } from '../../../platform/database/statements/paged.js';
import type { Page, PageRequest } from '../../../platform/http/fields/pagination.js';
import type { AgentKey } from './agent-key.store.js';

const COLUMNS = 'k.id, k.name, k.created_by as "createdBy", k.created_at as "createdAt", k.expires_at as "expiresAt"';

@Injectable()
export class AgentKeysQuery {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** Newest first, without keys that an epoch of the agent has ended; an expired key shows when it expired. */
  async list(scope: Scope, agentId: string, page: PageRequest): Promise<Page<AgentKey>> {
    const within = scopeCondition(scope, { organization: 'k.organization_id', agent: 'k.agent_id' }, 2);
    const from = 'agent_keys k join agents a on a.organization_id = k.organization_id and a.id = k.agent_id and a.epoch = k.epoch';
    const where = `k.agent_id = $1 and ${within.sql}`;
    const source = { columns: COLUMNS, from, where, parameters: [agentId, ...within.parameters], id: 'k.id' };
    return pageOf<AgentKey>(this.dataSource, source, page);
  }
}
