import { CountersignError, type ErrorCode } from '../errors.js';
import type { ExecutionReply, GateBlocked, GateExecuted, GateFailed, GatePending, GateReply, RequestReply } from '../wire.js';

/** It ran, or, where `runs` is `caller`, the caller may do it now; `auditId` is its entry in the log. */
export type Executed = GateExecuted;
/** The gate let it through, and it failed: `error`. With `indeterminate` it may have been done: do not repeat it. */
export type Failed = GateFailed;
/** The grant or a limit blocks it: `reason`. */
export type Blocked = GateBlocked;
/** A person is asked, and has not decided yet. `waitFor(hitlRequestId)` goes on. */
export type PendingApproval = Omit<GatePending, 'status' | 'hitlRequestId'> & {
  readonly status: 'pending_approval';
  readonly hitlRequestId: string;
};

/** What became of a call at the gate, told apart by `status`. */
export type Outcome = Executed | Failed | Blocked | PendingApproval;

/**
 * What the SDK lists of a request's statuses, as the interface does. There is a sixth, `cancelled`: the agent took it back, or the system
 * did, since the action may no longer run.
 */
export type HitlStatus = Exclude<RequestReply['status'], 'cancelled'>;

/** Why nothing runs any more. */
const ENDINGS: Readonly<Record<string, ErrorCode>> = { rejected: 'HITL_REJECTED', timed_out: 'HITL_TIMED_OUT' };

/** @throws CountersignError HITL_REJECTED, HITL_TIMED_OUT, HITL_CANCELLED */
export function outcomeOfReply(reply: GateReply): Outcome {
  switch (reply.status) {
    case 'executed':
    case 'failed':
    case 'blocked':
      return reply;
    case 'pending_hitl':
      if (!reply.hitlRequestId) throw strange(reply);
      return { ...reply, status: 'pending_approval', hitlRequestId: reply.hitlRequestId };
    case 'cancelled':
      throw ended(reply.reason, reply.comment, { hitlId: reply.hitlRequestId, executionId: reply.executionId });
    default:
      throw strange(reply);
  }
}

/** @throws as `outcomeOfReply`. @returns undefined while it runs or waits */
export function outcomeOfExecution(execution: ExecutionReply | undefined): Outcome | undefined {
  if (typeof execution?.status !== 'string') throw strange(execution);
  const { id: executionId, status, effectiveMode, flagged, runs, hitlRequestId, reasons, output, durationMs, edit } = execution;
  const { auditId = '', reason = '' } = execution;
  const said = { executionId, effectiveMode, flagged, runs, hitlRequestId, auditId, output, durationMs, edit };
  const gate = present(edit === undefined ? said : { ...said, input: execution.input });
  switch (status) {
    case 'executed':
      return { ...gate, status };
    case 'failed':
    case 'indeterminate': {
      const error = execution.error ?? { code: 'UNKNOWN', message: 'It failed.' };
      return { ...gate, status: 'failed', error, ...(status === 'indeterminate' ? { indeterminate: true } : {}) };
    }
    case 'blocked':
      return { executionId, effectiveMode, flagged, auditId, status, reason, reasons };
    case 'cancelled':
      throw ended(reason, undefined, { hitlId: hitlRequestId, executionId });
    default:
      return undefined;
  }
}

/** @throws CountersignError where the request has ended without an approval */
export function throwIfNotApproved({ id, executionId, status, comment, decision }: RequestReply): void {
  if (status === 'pending' || status === 'escalated' || status === 'approved') return;
  if (typeof status !== 'string') throw strange({ status });
  throw ended(status, comment ?? decision?.note ?? undefined, { hitlId: id, executionId });
}

function strange(reply: { status?: string } | undefined): CountersignError {
  return new CountersignError('BAD_RESPONSE', { detail: `The answer has the status ${reply?.status}, which is none here.` });
}

function ended(reason: string, comment: string | undefined, ids: { hitlId?: string; executionId?: string }): CountersignError {
  const code = ENDINGS[reason] ?? 'HITL_CANCELLED';
  const detail = comment ?? (code === 'HITL_CANCELLED' ? `It was cancelled before it began (${reason || 'cancelled'}).` : undefined);
  return new CountersignError(code, { ...ids, ...(detail === undefined ? {} : { detail }) });
}

/** Without the members that are undefined. */
function present<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}
