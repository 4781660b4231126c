import { HttpException } from '@nestjs/common';
import { PROBLEMS, type ProblemCode } from '../../../domain/problems.js';
import { type DatabaseFault, FAULT_DETAILS, faultOf, within } from './database-faults.js';
import { Problem } from './problem.js';

export { isConnectionError } from './database-faults.js';

/** Errors of waiting too long for a lock, and of transactions in each other's way. */
const LOCK_CODES: ReadonlySet<string> = new Set(['55P03', '57014', '40P01', '40001']);

/** Whether asking again in a moment may help. */
export function isPassing(error: unknown): boolean {
  if (error instanceof Problem) return error.code === 'UNAVAILABLE';
  return faultOf(error) !== undefined;
}

/** Whether a lock that somebody else has was in the way. */
export function isLockTimeout(error: unknown): boolean {
  return within(error, ({ code }) => typeof code === 'string' && LOCK_CODES.has(code));
}

/** What the violation of a named constraint means to the caller. Stores add theirs where they declare their tables. */
export const constraintProblems = new Map<string, { code: ProblemCode; detail: string }>();

/** Integrity violations: unique, foreign key, check, exclusion. */
const INTEGRITY = /^23[0-9A-Z]{3}$/;

function constraintProblem(error: unknown): Problem | undefined {
  let problem: Problem | undefined;
  within(error, ({ code, constraint }) => {
    if (typeof code !== 'string' || !INTEGRITY.test(code) || typeof constraint !== 'string') return false;
    const known = constraintProblems.get(constraint);
    if (known !== undefined) problem = new Problem(known.code, known.detail);
    return true;
  });
  return problem;
}

const CODES_BY_STATUS: Readonly<Record<number, ProblemCode>> = {
  401: 'UNAUTHENTICATED', 403: 'FORBIDDEN', 404: 'NOT_FOUND', 405: 'METHOD_NOT_ALLOWED', 409: 'CONFLICT',
  413: 'BODY_TOO_LARGE', 415: 'UNSUPPORTED_MEDIA_TYPE', 429: 'RATE_LIMITED', 503: 'UNAVAILABLE',
};

/** Details of ours for refusals that were made by the framework: its own words may quote what nobody should read. */
const DETAILS: Partial<Record<ProblemCode, string>> = {
  NOT_FOUND: 'There is no such route. The documentation at /docs lists them all.',
  VALIDATION_FAILED: 'The request cannot be read: its address is not percent-encoded UTF-8, or a header is malformed.',
};

/** The answer while a fault of the database lasts. */
export function unavailable(fault: DatabaseFault): Problem {
  return new Problem('UNAVAILABLE', FAULT_DETAILS[fault], { headers: { 'Retry-After': '1' } });
}

/** Makes a problem of any error; an error that is not known here becomes INTERNAL, without details. */
export function problemFrom(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const constraint = constraintProblem(error);
  if (constraint !== undefined) return constraint;
  const shown = faultOf(error);
  if (shown !== undefined) return unavailable(shown.fault);
  const status = frameworkStatus(error);
  if (status === undefined) return new Problem('INTERNAL');
  const code = CODES_BY_STATUS[status] ?? (status < 500 ? 'VALIDATION_FAILED' : 'INTERNAL');
  return new Problem(code, DETAILS[code] ?? PROBLEMS[code].title);
}

/** The status of Nest's exceptions, and of Express's own errors where they blame the request. */
function frameworkStatus(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  if (error instanceof URIError) return 400;
  const status = (error as { status?: unknown } | null | undefined)?.status;
  return error instanceof Error && typeof status === 'number' && status >= 400 && status < 500 ? status : undefined;
}
