import type { ApiResponseOptions } from '@nestjs/swagger';

/** What a call to a model may be refused with, beside what every route may answer. */
export const COMPLETION_CODES = [
  'CAPABILITY_NOT_GRANTED', 'CAPABILITY_NOT_IN_TOKEN', 'CAPABILITY_BLOCKED', 'STOPPED', 'INVALID_INPUT', 'PII_SCAN_REQUIRED', 'PII_BLOCKED',
  'BUDGET_EXHAUSTED', 'TOO_MANY_PENDING', 'HITL_PENDING', 'HITL_REJECTED', 'CONFLICT', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED',
  'PROVIDER_ERROR', 'PROVIDER_TIMEOUT',
] as const;

/** What a vendor's client reads: an answer in its own format, or a stream of such. */
export const VENDOR_ANSWER = {
  status: 200, description: "In the vendor's format.",
  content: {
    'application/json': { schema: { type: 'object', additionalProperties: true, description: "As the vendor's own API answers." } },
    'text/event-stream': { schema: { type: 'string' } },
  },
} as const satisfies ApiResponseOptions;
