import { ApiProperty } from '@nestjs/swagger';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import { Decimal, FreeValue, Integer, Nested, OneOf, Text } from '../../platform/http/fields/fields.js';

const FENCE_MAX = 2_147_483_647;
const FENCE = 'Number of the lease, as its answer said it.';

export class HeartbeatDto {
  @Decimal({ min: 0, max: 1, optional: true, doc: 'How busy the node is: 0 is idle, 1 takes no more.', example: 0.25 })
  load?: number;

  @Text({ min: 1, max: 100, optional: true, singleLine: true, doc: 'Of the program that the node runs.', example: '2.1.0' })
  version?: string;
}

export class StartWorkDto {
  @Integer({ min: 1, max: FENCE_MAX, doc: FENCE })
  fence!: number;
}

export class WorkErrorDto {
  @Text({
    max: 64, min: 1, optional: true, pattern: /^[A-Z][A-Z0-9_]*$/, patternMeans: 'a code of 1 to 64 capital letters, digits and _',
    doc: 'A code of the node\'s own. Default `NODE_ERROR`.', example: 'PRINTER_JAMMED',
  })
  code?: string;

  @Text({ max: 2_000, min: 1, doc: 'What went wrong, for people.' })
  message!: string;
}

/** `indeterminate`: a node that began, and that lost what it was at, says that it does not know. */
export const RESULTS = ['executed', 'failed', 'indeterminate'] as const;

export class WorkResultDto {
  @Integer({ min: 1, max: FENCE_MAX, doc: FENCE })
  fence!: number;

  @OneOf(RESULTS, { doc: '`indeterminate`: the node does not know whether it was done.' })
  status!: (typeof RESULTS)[number];

  @FreeValue({ optional: true, doc: 'What it gave: any JSON value. Not with `indeterminate`.' })
  output?: JsonValue;

  @Nested(() => WorkErrorDto, { optional: true, doc: 'What went wrong. Required unless it was `executed`.' })
  error?: WorkErrorDto;
}

export class HeartbeatReply {
  @ApiProperty({ example: 'agt_…' }) agentId!: string;
  @ApiProperty({ format: 'date-time' }) nodeLastSeen!: string;
  @ApiProperty({
    type: String, isArray: true, example: ['exec_…'],
    description: 'Executions whose work nodes of the agent had taken, and which do not want it any more: stop, or do not begin.',
  })
  cancelled!: string[];
}

class OfWork {
  @ApiProperty({ example: 'exec_…', description: 'Of the execution.' }) id!: string;
  @ApiProperty({ example: 'press.print' }) capability!: string;
  @ApiProperty({ type: 'integer', description: FENCE }) fence!: number;
  @ApiProperty({ format: 'date-time', description: 'Until then its result is waited for.' }) deadline!: string;
}

export class LeasedWork extends OfWork {
  @ApiProperty({ format: 'date-time', description: 'Until then it has to be started; then somebody else can lease it.' })
  leaseUntil!: string;
}

export class LeaseReply {
  @ApiProperty({ type: LeasedWork }) task!: LeasedWork;
}

export class StartedWorkReply extends OfWork {
  @ApiProperty({ required: false, description: 'Name of the action, as the agent gave it.' }) action?: string;
  @ApiProperty({ type: Object, additionalProperties: true, description: 'What it is done with: what was approved.' }) input!: JsonObject;
  @ApiProperty({ type: Object, required: false, additionalProperties: true, description: 'As the agent gave it.' }) context?: JsonObject;
  @ApiProperty({ example: 'exec_…', description: 'For receivers that do nothing twice under one key.' }) idempotencyKey!: string;
  @ApiProperty({ required: false, description: 'W3C trace context of the call.' }) traceparent?: string;
}

export class StartReply {
  @ApiProperty({ type: StartedWorkReply }) task!: StartedWorkReply;
}

export class ResultReply {
  @ApiProperty({ example: 'exec_…' }) id!: string;
  @ApiProperty({ description: 'The execution had its end already: the result stands beside it in the log, and changes nothing.' })
  late!: boolean;
}
