import { applyDecorators } from '@nestjs/common';
import { ApiOperation, ApiResponse } from '@nestjs/swagger';
import { Idempotent } from '../../../platform/http/request/idempotent.js';
import { ReadsBody } from '../../../platform/http/request/json-body.js';
import { ReadsQuery } from '../../../platform/http/request/query-params.js';
import { CompletionDto } from '../llm.dto.js';
import { VENDOR_ANSWER } from './completion-codes.js';
import { VendorQuery } from './vendor-query.js';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
}

/** A route on which a vendor's client asks for a completion. A key for one such route is a key for all. */
export const CompletionRoute = (operation: Operation): MethodDecorator => applyDecorators(
  ApiOperation({ ...operation }), Idempotent('llm.invoke'), ReadsQuery(VendorQuery), ReadsBody(CompletionDto),
  ApiResponse(VENDOR_ANSWER),
);

/** What completions in a vendor's format have in common. @param format what of it body, answer and stream are */
export const inFormat = (format: string): string =>
  `Body, answer and stream are those of ${format}; errors have that form, too. Where a person has to decide first the answer is 409 ` +
  '`HITL_PENDING`; with `?wait=` the call is held.';
