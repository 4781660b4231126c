import type { AuditEventType } from '../../../domain/audit/catalogue/audit-events.js';
import { Problem } from '../../http/reply/problem.js';

/**
 * So far this server's clock, which stamps entries, may be off the database's, which ends windows, grants and tokens, where something
 * begins, is asked or decided. Verification bears 10 s (`OVERLAP_MS`), and a commit takes some of them.
 */
const LARGEST_SKEW_MS = 5_000;

/** What verification holds against the times of windows, grants and tokens. A stop, and what ends without a decision, is not among it. */
const JUDGED_BY_TIME: ReadonlySet<AuditEventType> = new Set<AuditEventType>([
  'execution.started', 'execution.retried', 'execution.blocked', 'hitl.created', 'hitl.voted', 'hitl.edited', 'hitl.escalated',
  'hitl.timed_out', 'hitl.approved', 'hitl.rejected',
]);

export function dependsOnTime(event: AuditEventType): boolean {
  return JUDGED_BY_TIME.has(event);
}

/**
 * In SQL: whether a stamp was made by a clock that is right.
 *
 * @param since the earliest time, by the database's clock, at which it can have been made
 */
export function clockAgrees(stamp: string, since: 'now()' | 'clock_timestamp()'): string {
  const skew = `interval '${LARGEST_SKEW_MS} milliseconds'`;
  return `${stamp}::timestamptz between ${since} - ${skew} and clock_timestamp() + ${skew}`;
}

/** How far this server's clock is from what the database's has just shown, in words; undefined where that is near enough. */
export function clockSkewProblem(database: Date): Problem | undefined {
  const apart = Math.abs(Date.now() - database.getTime());
  return apart <= LARGEST_SKEW_MS ? undefined : clockSkewRefused(`${Math.round(apart / 1_000)} s`);
}

export function clockSkewRefused(by = `more than ${LARGEST_SKEW_MS / 1_000} s`): Problem {
  const detail = `This server's clock and the database's differ by ${by}: put it right. ` +
    'Until then nothing begins, is asked or decided here.';
  return new Problem('UNAVAILABLE', detail, { headers: { 'Retry-After': '5' } });
}
