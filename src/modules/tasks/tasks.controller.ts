import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../platform/auth/access/principal.js';
import { pageRequest } from '../../platform/http/fields/pagination.js';
import { Idempotent } from '../../platform/http/request/idempotent.js';
import { PathParam } from '../../platform/http/request/path-param.js';
import { QueryParams } from '../../platform/http/request/query-params.js';
import { Problem } from '../../platform/http/reply/problem.js';
import { Replies } from '../../platform/http/reply/replies.js';
import { WaitQuery } from '../executions/executions.dto.js';
import { AwaitTaskService } from './await-task.service.js';
import { EndTasksService } from './end-tasks.service.js';
import { TaskListQuery } from './tasks.dto.js';
import { presentTask, TaskEnvelope, TaskListReply } from './tasks.presenter.js';
import { TasksQuery } from './tasks.query.js';

const DEFAULT_LIMIT = 500;

@ApiTags('Routing and delegation')
@Controller('api/v1/tasks')
export class TasksController {
  constructor(
    private readonly tasks: TasksQuery,
    private readonly awaiting: AwaitTaskService,
    private readonly ending: EndTasksService,
  ) {}

  @Get()
  @ApiOperation({ summary: 'List tasks', description: 'Newest first. An agent sees those that it has, and those that it has given.' })
  @Access('tasks.read')
  @Replies(200, TaskListReply)
  async list(@QueryParams(TaskListQuery) query: TaskListQuery, @Caller() caller: VerifiedCaller): Promise<TaskListReply> {
    const { rows, total, nextCursor } = await this.tasks.list(caller.scope, query, pageRequest(query, DEFAULT_LIMIT));
    return { tasks: rows.map(presentTask), total, ...(nextCursor ? { nextCursor } : {}) };
  }

  @Get(':id')
  @ApiOperation({ summary: 'One task', description: '`?wait=` holds the answer until it is over.' })
  @Access('tasks.read')
  @Replies(200, TaskEnvelope)
  async get(
    @PathParam('id', 'task') id: string,
    @QueryParams(WaitQuery) { wait = 0 }: WaitQuery,
    @Caller() caller: VerifiedCaller,
  ): Promise<TaskEnvelope> {
    const task = await this.awaiting.read(id, wait, caller);
    if (!task) throw new Problem('NOT_FOUND', 'There is no such task.');
    return { task: presentTask(task) };
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Cancel a task',
    description: 'With what was delegated within it. One that is running ends with its execution, which has a cancel of its own.',
  })
  @Access('tasks.cancel')
  @Idempotent('tasks.cancel')
  @Replies(200, TaskEnvelope, 'CONFLICT', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  cancel(@PathParam('id', 'task') id: string, @Caller() caller: VerifiedCaller) {
    return this.ending.cancel(id, caller);
  }
}
