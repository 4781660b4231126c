import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { Scope } from '../../platform/auth/access/scope.js';
import { pageOf } from '../../platform/database/statements/paged.js';
import type { Page, PageRequest } from '../../platform/http/fields/pagination.js';
import { ownTasks } from './own-tasks.js';
import { TASK_COLUMNS, type TaskRow } from './task.store.js';

export interface TaskFilter {
  organizationId?: string;
  agentId?: string;
  fromAgentId?: string;
  parentId?: string;
  status?: string;
}

/** The status that is shown, as `taskStatusOf` has it. */
const STATUS = `case when t.status = 'cancelled' or (t.status = 'assigned' and has_ended_task_v1(t.organization_id, t.ancestors))
  then 'cancelled' when t.status = 'assigned' then 'assigned' when e.status in ('pending_hitl', 'running') then 'running'
  when e.status = 'executed' then 'done' else 'failed' end`;

@Injectable()
export class TasksQuery {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  async find(scope: Scope, id: string): Promise<TaskRow | undefined> {
    const within = ownTasks(scope, 2);
    const [row] = await this.dataSource.query<TaskRow[]>(
      `select ${TASK_COLUMNS} from tasks t left join executions e on e.organization_id = t.organization_id and e.id = t.execution_id
       where t.id = $1 and t.organization_id in (select id from organizations) and ${within.sql}`,
      [id, ...within.parameters],
    );
    return row;
  }

  /** Newest first. */
  async list(scope: Scope, filter: TaskFilter, page: PageRequest): Promise<Page<TaskRow>> {
    const within = ownTasks(scope, 6);
    const where = `($1::text is null or t.organization_id = $1) and ($2::text is null or t.to_agent_id = $2)
      and ($3::text is null or t.from_agent_id = $3) and ($4::text is null or t.parent_id = $4)
      and ($5::text is null or ${STATUS} = $5) and ${within.sql}`;
    const { organizationId, agentId, fromAgentId, parentId, status } = filter;
    const parameters = [...[organizationId, agentId, fromAgentId, parentId, status].map((value) => value ?? null), ...within.parameters];
    return pageOf(this.dataSource, {
      columns: TASK_COLUMNS, where, parameters, id: 't.id',
      from: 'tasks t left join executions e on e.organization_id = t.organization_id and e.id = t.execution_id',
    }, page);
  }
}
