import { ApiProperty } from '@nestjs/swagger';
import { TASK_STATUSES, taskStatusOf } from '../../domain/tasks/task-status.js';
import { type JsonObject, shownJson } from '../../domain/json.js';
import type { TaskRow } from './task.store.js';

export class TaskReply {
  @ApiProperty({ example: 'task_…' }) id!: string;
  @ApiProperty({ example: 'org_…' }) organizationId!: string;
  @ApiProperty({ required: false, example: 'task_…', description: 'The task within which it was delegated.' }) parentId?: string;
  @ApiProperty({ example: 'web.search' }) capability!: string;
  @ApiProperty({ type: Object, additionalProperties: true, description: 'What it is to be done with.' }) input!: JsonObject;
  @ApiProperty({ required: false }) description?: string;
  @ApiProperty({ required: false, example: 'agt_…', description: 'Absent where a person gave it.' }) fromAgentId?: string;
  @ApiProperty({ example: 'agt_…', description: 'Who does it, by `POST /execute` with `context.task_id`.' }) toAgentId!: string;
  @ApiProperty({ type: String, isArray: true, description: 'The agents that it came through, the first first, and who does it last.' })
  chain!: string[];
  @ApiProperty({ example: 'usr_…', description: 'Who gave it: a user, an agent, or `root`.' }) delegatedBy!: string;
  @ApiProperty({ enum: TASK_STATUSES, description: '`running` from its execution on, also while that waits for a person.' })
  status!: string;
  @ApiProperty({ required: false, example: 'exec_…', description: 'The execution that does it, or did.' }) executionId?: string;
  @ApiProperty({ required: false, description: 'Why it was cancelled: a code.' }) reason?: string;
  @ApiProperty({ required: false, example: 'rte_…', description: 'The routing decision that found its agent.' }) decisionId?: string;
  @ApiProperty({ format: 'date-time' }) createdAt!: string;
  @ApiProperty({ format: 'date-time', required: false, description: 'Of a task that was cancelled.' }) endedAt?: string;
}

export class TaskEnvelope {
  @ApiProperty({ type: TaskReply }) task!: TaskReply;
}

export class TaskListReply {
  @ApiProperty({ type: TaskReply, isArray: true }) tasks!: TaskReply[];
  @ApiProperty({ type: 'integer' }) total!: number;
  @ApiProperty({ required: false, description: 'For `cursor`, when more follow.' }) nextCursor?: string;
}

export function presentTask(row: TaskRow): TaskReply {
  const status = taskStatusOf(row);
  const reason = row.reason ?? (status === 'cancelled' ? 'parent_ended' : null);
  return {
    id: row.id,
    organizationId: row.organizationId,
    ...(row.parentId === null ? {} : { parentId: row.parentId }),
    capability: row.capability,
    input: shownJson(row.input) as JsonObject,
    ...(row.description === null ? {} : { description: row.description }),
    ...(row.fromAgentId === null ? {} : { fromAgentId: row.fromAgentId }),
    toAgentId: row.toAgentId,
    chain: row.chain,
    delegatedBy: row.delegatedBy,
    status,
    ...(row.executionId === null ? {} : { executionId: row.executionId }),
    ...(reason === null ? {} : { reason }),
    ...(row.decisionId === null ? {} : { decisionId: row.decisionId }),
    createdAt: row.createdAt.toISOString(),
    ...(row.endedAt === null ? {} : { endedAt: row.endedAt.toISOString() }),
  };
}
