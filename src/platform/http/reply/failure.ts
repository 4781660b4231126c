import { HttpException } from '@nestjs/common';
import { PROBLEMS, type ProblemCode } from '../../../domain/problems.js';
import { Problem } from './problem.js';

/** Codes of the system and of PostgreSQL (appendix A) that say: the database cannot be reached, or is going away. */
const CONNECTION_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN',
  '57P01', '57P02', '57P03', '53300',
  // It ended our transaction because we had been silent in it for too long: this process was starved, or frozen.
  '25P03',
  // It refuses us altogether: takes no connections, is gone, or no longer knows our name.
  '55000', '3D000', '28000', '28P01',
]);

/** The database is there and cannot do this now: cancelled or waited too long, out of resources, deadlocks, a standby. */
// 42501: the right to write the log was withdrawn. Nothing runs that cannot be recorded.
const BUSY_CODES: ReadonlySet<string> = new Set(['42501', '57014', '55P03', '40001', '40P01', '53000', '53100', '53200', '25006']);

/** Errors of waiting too long for a lock, and of transactions in each other's way. */
const LOCK_CODES: ReadonlySet<string> = new Set(['55P03', '57014', '40P01', '40001']);

/** pg, its pool and TypeORM put these in words only; a runner whose connection the database ended counts as released. */
const CONNECTION_WORDS =
  /Connection terminated|Query read timeout|timeout exceeded when trying to connect|encountered a connection error|runner already released/;

/** Whether an error means that the connection to the database failed or could not be made. */
export function isConnectionError(error: unknown): boolean {
  return within(error, ({ code, message }) =>
    typeof code === 'string' && (CONNECTION_CODES.has(code) || /^08[0-9A-Z]{3}$/.test(code))
      ? true
      : typeof message === 'string' && CONNECTION_WORDS.test(message),
  );
}

/** Whether asking again in a moment may help. */
export function isPassing(error: unknown): boolean {
  if (error instanceof Problem) return error.code === 'UNAVAILABLE';
  return isConnectionError(error) || within(error, ({ code }) => typeof code === 'string' && BUSY_CODES.has(code));
}

/** Whether a lock that somebody else has was in the way. */
export function isLockTimeout(error: unknown): boolean {
  return within(error, ({ code }) => typeof code === 'string' && LOCK_CODES.has(code));
}

interface ErrorParts {
  code?: unknown;
  message?: unknown;
  constraint?: unknown;
  driverError?: unknown;
  cause?: unknown;
  errors?: unknown;
}

/** Asks an error and what it wraps: TypeORM's driver error, causes, and the attempts of a connection to several addresses. */
function within(error: unknown, holds: (parts: ErrorParts) => boolean, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 5) return false;
  const parts = error as ErrorParts;
  if (holds(parts)) return true;
  const inner = [parts.driverError, parts.cause, ...(Array.isArray(parts.errors) ? (parts.errors as unknown[]) : [])];
  return inner.some((wrapped) => within(wrapped, holds, depth + 1));
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

/** Makes a problem of any error; an error that is not known here becomes INTERNAL, without details. */
export function problemFrom(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const constraint = constraintProblem(error);
  if (constraint !== undefined) return constraint;
  if (isPassing(error)) return new Problem('UNAVAILABLE', 'Please try again in a moment.');
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
