import { TASK_STATUSES } from '../../domain/tasks/task-status.js';
import { OneOf, Text } from '../../platform/http/fields/fields.js';
import { PageQuery } from '../../platform/http/fields/pagination.js';

export class TaskListQuery extends PageQuery {
  @Text({ max: 100, optional: true, doc: 'Only of this organization, for whoever sees several.' })
  organizationId?: string;

  @Text({ max: 100, optional: true, aliases: ['toAgentId'], doc: 'Only tasks of this agent.' })
  agentId?: string;

  @Text({ max: 100, optional: true, doc: 'Only what this agent gave.' })
  fromAgentId?: string;

  @Text({ max: 100, optional: true, doc: 'Only what was delegated directly within this task.' })
  parentId?: string;

  @OneOf(TASK_STATUSES, { optional: true, doc: 'Only of this status.' })
  status?: string;
}
