import { Controller, Post, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { Access, Caller } from '../../platform/auth/access/access.decorator.js';
import { CallerCheck } from '../../platform/auth/credentials/caller-check.js';
import type { Caller as VerifiedCaller } from '../../platform/auth/access/principal.js';
import { parsedBody } from '../../platform/http/request/body-reader.js';
import { Idempotent } from '../../platform/http/request/idempotent.js';
import { ReadsBody } from '../../platform/http/request/json-body.js';
import { prefersLenience } from '../../platform/http/request/prefer.js';
import { queryOf, readQuery, ReadsQuery } from '../../platform/http/request/query-params.js';
import { Replies, type Reply } from '../../platform/http/reply/replies.js';
import { Tracing } from '../../platform/tracing/tracing.js';
import { WaitQuery } from '../executions/executions.dto.js';
import { CreateRequestDto } from '../hitl/hitl.dto.js';
import { RequestEnvelope } from '../hitl/hitl.replies.js';
import { type ExecuteCall, readExecuteCall } from './admission/execute-call.js';
import { GateService } from './gate.service.js';
import { ExecuteDto, GATE_REPLY, GatePending, type GateReply } from './gate.dto.js';
import { underToolSpan } from './tool-span.js';

const GATE_CODES = [
  'CAPABILITY_NOT_GRANTED', 'CAPABILITY_NOT_IN_TOKEN', 'STOPPED', 'INVALID_INPUT', 'TOO_MANY_PENDING', 'IDEMPOTENCY_IN_FLIGHT',
  'IDEMPOTENCY_KEY_REUSED',
] as const;

interface ReadCall {
  readonly call: ExecuteCall;
  readonly wait: number;
}

/** The gate. Both paths of the interface are one operation: a key used on one is used on the other. */
@Controller('api/v1')
export class GateController {
  constructor(
    private readonly gate: GateService,
    private readonly callers: CallerCheck,
    private readonly tracing: Tracing,
  ) {}

  @Post('execute')
  @ApiOperation({
    operationId: 'executions.execute',
    summary: 'Execute a governed action',
    description:
      'The gate: runs it (200 `executed`, or `failed` when its runtime failed), blocks it (200 `blocked`), or ' +
      'asks a person (202 `pending_hitl`; `?wait=` holds the answer).',
  })
  @ApiTags('Execution')
  @Access('gate.execute')
  @Idempotent('gate.execute')
  @ReadsQuery(WaitQuery)
  @ReadsBody(ExecuteDto)
  @Replies(200, GATE_REPLY, ...GATE_CODES)
  @Replies(202, GatePending)
  async execute(@Req() request: Request, @Caller() caller: VerifiedCaller) {
    return this.called(await this.read(request, caller), caller);
  }

  @Post('executions')
  @ApiOperation({
    operationId: 'executions.create', summary: 'Execute a governed action', description: 'The same operation as `POST /api/v1/execute`.',
  })
  @ApiTags('Execution')
  @Access('gate.execute')
  @Idempotent('gate.execute')
  @ReadsQuery(WaitQuery)
  @ReadsBody(ExecuteDto)
  @Replies(200, GATE_REPLY, ...GATE_CODES)
  @Replies(202, GatePending)
  async executeByOtherPath(@Req() request: Request, @Caller() caller: VerifiedCaller) {
    return this.called(await this.read(request, caller), caller);
  }

  @Post('hitl')
  @ApiOperation({
    operationId: 'hitl.create',
    summary: 'Ask a person',
    description:
      'For adapters that hold the action themselves: an approval is the licence, and the service runs nothing. ' +
      'Milder modes become `propose`.',
  })
  @ApiTags('Human in the loop')
  @Access('hitl.create')
  @Idempotent('hitl.create')
  @ReadsBody(CreateRequestDto)
  @Replies(201, RequestEnvelope, 'CAPABILITY_BLOCKED', ...GATE_CODES)
  create(@Req() request: Request, @Caller() caller: VerifiedCaller) {
    const call = readExecuteCall(parsedBody(request), { dto: CreateRequestDto, lenient: prefersLenience(request) });
    const asked = () => this.gate.request({ ...call, dryRun: false }, caller);
    return this.tracing.isOn ? underToolSpan(this.tracing, call, caller, asked) : asked();
  }

  private called({ call, wait }: ReadCall, caller: VerifiedCaller): Promise<Reply<GateReply>> {
    const executed = () => this.gate.execute(call, wait, caller);
    return this.tracing.isOn ? underToolSpan(this.tracing, call, caller, executed) : executed();
  }

  /** On these two routes the commit judges the caller. What is refused here never reaches the commit, so its sender is judged first. */
  private async read(request: Request, caller: VerifiedCaller): Promise<ReadCall> {
    try {
      const lenient = prefersLenience(request);
      const { wait = 0 } = readQuery(WaitQuery, queryOf(request.originalUrl), { lenient, other: { is: 'body', dto: ExecuteDto } });
      return { call: readExecuteCall(parsedBody(request), { dto: ExecuteDto, query: WaitQuery, lenient }), wait };
    } catch (error) {
      await this.callers.judge(caller);
      throw error;
    }
  }
}
