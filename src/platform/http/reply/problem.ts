import { PROBLEMS, type ProblemCode } from '../../../domain/problems.js';
import type { JsonObject } from '../../../domain/json.js';

/** One invalid member: where it stands (RFC 6901 from the body's root; `?name` for the query) and what to do about it. */
export interface FieldError {
  pointer: string;
  message: string;
}

export interface ProblemExtras {
  errors?: FieldError[];
  headers?: Record<string, string>;
  /** Extension members of the answer, for instance `currentCapabilities`. */
  members?: JsonObject;
}

/** A refusal on its way to the caller. The problem filter renders it as `application/problem+json` (RFC 9457). */
export class Problem extends Error {
  readonly status: number;

  constructor(
    readonly code: ProblemCode,
    readonly detail?: string,
    readonly extras: ProblemExtras = {},
  ) {
    super(detail ?? PROBLEMS[code].title);
    this.name = 'Problem';
    this.status = PROBLEMS[code].status;
  }
}
