import { Controller, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../../platform/auth/access/principal.js';
import { Idempotent } from '../../../platform/http/request/idempotent.js';
import { JsonBody } from '../../../platform/http/request/json-body.js';
import { PathParam } from '../../../platform/http/request/path-param.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { Replies, reply } from '../../../platform/http/reply/replies.js';
import { ExecutionEnvelope, presentExecution } from '../../executions/executions.presenter.js';
import { ExecutionsQuery } from '../../executions/executions.query.js';
import { DecisionDto } from '../hitl.dto.js';
import { HitlService } from '../hitl.service.js';

@ApiTags('Execution')
@Controller('api/v1/executions')
export class CancelExecutionController {
  constructor(
    private readonly executions: ExecutionsQuery,
    private readonly hitl: HitlService,
  ) {}

  /** Cancelling an execution that waits for a person is cancelling its request. */
  @Post(':id/cancel')
  @ApiOperation({
    operationId: 'executions.cancel',
    summary: 'Cancel an execution that waits for a person',
    description: 'The same as cancelling its request.',
  })
  @Access('executions.cancel')
  @Idempotent('hitl.cancel')
  @Replies(200, ExecutionEnvelope, 'CONFLICT', 'HITL_ALREADY_DECIDED', 'HITL_EXPIRED', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  async cancel(@PathParam('id', 'exec') id: string, @JsonBody(DecisionDto) body: DecisionDto, @Caller() caller: VerifiedCaller) {
    const execution = await this.executions.find(caller.scope, id);
    if (!execution) throw new Problem('NOT_FOUND', 'There is no such execution.');
    if (execution.hitlRequestId === null) throw new Problem('CONFLICT', `It is ${execution.status}: there is nothing to cancel.`);
    const { headers } = await this.hitl.cancel(execution.hitlRequestId, body, {}, caller);
    return reply(200, { execution: presentExecution((await this.executions.find(caller.scope, id))!) }, headers);
  }
}
