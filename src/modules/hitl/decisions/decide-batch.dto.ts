import { ApiExtraModels, ApiProperty } from '@nestjs/swagger';
import { HITL_STATUSES } from '../../../domain/hitl/transition.js';
import { NestedList, OneOf, Text } from '../../../platform/http/fields/fields.js';
import { DIGEST } from '../hitl.dto.js';
import { EITHER_REQUEST, RequestReply, RequestSnakeReply } from '../hitl.replies.js';

/** Decisions that one call may carry. */
export const BATCH_MAX = 100;

export class BatchItemDto {
  @Text({ min: 1, max: 100, doc: 'The request.', example: 'hitl_…' })
  id!: string;

  @Text({
    max: 64, optional: true, pattern: DIGEST, patternMeans: 'the 64 hexadecimal digits of `actionDigest`',
    doc: 'The digest of the action that you were shown. Without it this item is not decided.',
  })
  expectedDigest?: string;
}

export class BatchDto {
  @NestedList(() => BatchItemDto, { minItems: 1, maxItems: BATCH_MAX, doc: 'What to decide.' })
  items!: BatchItemDto[];

  @OneOf(['approve', 'reject'], { doc: 'The same for all of them.' })
  decision!: 'approve' | 'reject';

  @Text({ max: 4_000, optional: true, nullable: true, aliases: ['comment', 'reason'], doc: 'Kept with each decision.' })
  note?: string;
}

export class RequestSummaryReply {
  @ApiProperty({ example: 'hitl_…' }) id!: string;
  @ApiProperty({ enum: HITL_STATUSES }) status!: string;
  @ApiProperty({ type: String, nullable: true, description: 'A user, or `root`; `system` where time decided.' }) decidedBy!: string | null;
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) decidedAt!: string | null;
}

export class BatchErrorReply {
  @ApiProperty({ example: 'HITL_ALREADY_DECIDED' }) code!: string;
  @ApiProperty() title!: string;
  @ApiProperty() detail!: string;
  @ApiProperty({ type: RequestSummaryReply, required: false, description: 'What stands.' }) request?: RequestSummaryReply;
}

@ApiExtraModels(RequestReply, RequestSnakeReply)
export class BatchResultReply {
  @ApiProperty({ example: 'hitl_…' }) id!: string;
  @ApiProperty({ type: 'integer', description: 'The status that this decision would have had alone.' }) status!: number;
  @ApiProperty({ ...EITHER_REQUEST.member, required: false, description: 'In camelCase unless `?form=snake`.' })
  request?: RequestReply | RequestSnakeReply;
  @ApiProperty({ type: BatchErrorReply, required: false }) error?: BatchErrorReply;
}

export class BatchReply {
  @ApiProperty({ type: BatchResultReply, isArray: true, description: 'In the order of the items.' }) results!: BatchResultReply[];
}
