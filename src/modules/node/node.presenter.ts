import type { JsonObject } from '../../domain/json.js';
import type { LeasedWork, StartedWorkReply } from './node.dto.js';
import type { Lease } from './work.js';
import type { StartedWork } from './start-work.service.js';

export function presentLease({ executionId, capability, fence, deadline, leaseUntil }: Lease): LeasedWork {
  return { id: executionId, capability, fence, leaseUntil: leaseUntil.toISOString(), deadline: deadline.toISOString() };
}

export function presentStarted({ work, execution }: StartedWork): StartedWorkReply {
  const { id, capability, action, input, context, traceparent } = execution;
  return {
    id, capability, fence: work.fence, deadline: work.deadline.toISOString(),
    ...(action === null ? {} : { action }),
    input: JSON.parse(input) as JsonObject,
    ...(context === null ? {} : { context: JSON.parse(context) as JsonObject }),
    idempotencyKey: id,
    ...(traceparent === null ? {} : { traceparent }),
  };
}
