import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import type { JsonObject } from '../../../domain/json.js';
import { PROBLEMS, type ProblemCode } from '../../../domain/problems.js';
import type { AddressLimit } from '../../rate-limit/address-limit.js';
import { problemFrom } from './failure.js';
import type { Problem } from './problem.js';
import { unmatched } from './unmatched.js';
import { isForPeople, problemPage } from '../pages/problem-page.js';
import { contextOf } from '../request/request-context.js';

export { constraintProblems, isConnectionError } from './failure.js';

/** The bodies of refusals on routes whose callers understand another form than problem+json. */
export type OtherForm = (problem: Problem, request: Request, requestId: string | undefined) => JsonObject | undefined;

/** What an answer says, for the request's log line. */
export const answered = new WeakMap<object, Problem>();

/**
 * Makes answers of all refusals and failures: Nest calls it for handlers and guards, for unknown paths,
 * and for errors of the middleware before them.
 */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(
    private readonly logger: Logger,
    private readonly addresses?: AddressLimit,
    private readonly otherForm: OtherForm = () => undefined,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const problem = unmatched(error, request) ?? problemFrom(error);
    // Unknown paths and addresses that cannot be read never reach the guard: a made-up credential must not be a way around.
    if (problem.status < 500 && this.addresses?.concerns(request)) {
      this.addresses.take(request).then(
        () => this.answer(problem, error, request, response),
        (limited: unknown) => this.answer(problemFrom(limited), limited, request, response),
      );
    } else this.answer(problem, error, request, response);
  }

  private answer(problem: Problem, error: unknown, request: Request, response: Response): void {
    if (problem.status >= 500) {
      // What passes is said where it is noticed (`DatabaseFaults`), and of each call by its own line.
      const level = problem.code === 'INTERNAL' ? 'error' : problem.code === 'UNAVAILABLE' ? 'debug' : 'warn';
      this.logger[level](
        { err: error, requestId: contextOf(request)?.requestId, code: problem.code },
        'a request failed',
      );
    }
    answered.set(response, problem);
    // Half an answer cannot be taken back; cutting the connection at least shows that it is half.
    if (response.headersSent) response.destroy();
    else send(problem, request, response, this.otherForm(problem, request, contextOf(request)?.requestId));
  }
}

function send(problem: Problem, request: Request, response: Response, other: JsonObject | undefined): void {
  const isPage = other === undefined && isForPeople(problem, request);
  const body = Buffer.from(isPage ? problemPage(problem, request) : JSON.stringify(other ?? problemBody(problem, request)));
  for (const [name, value] of Object.entries(headersOf(problem))) response.setHeader(name, value);
  response.statusCode = problem.status;
  response.setHeader('Content-Type', isPage ? 'text/html; charset=utf-8' : `application/${other ? '' : 'problem+'}json; charset=utf-8`);
  response.setHeader('Content-Length', body.length);
  response.setHeader('Cache-Control', 'no-store');
  // What a handler had prepared for a success must not stay on a refusal.
  response.removeHeader('Content-Disposition');
  response.end(body);
}

function headersOf(problem: Problem): Record<string, string> {
  return {
    ...(problem.status === 401 ? { 'WWW-Authenticate': 'Bearer realm="countersign"' } : {}),
    ...(problem.code === 'UNAVAILABLE' ? { 'Retry-After': '1' } : {}),
    ...problem.extras.headers,
  };
}

/** RFC 9457. Extension members of the problem come first, so that none can replace a standard one. */
function problemBody(problem: Problem, request: Request): JsonObject {
  const { code, extras } = problem;
  const requestId = contextOf(request)?.requestId;
  return {
    ...extras.members,
    type: problemType(code),
    title: PROBLEMS[code].title,
    status: problem.status,
    detail: problem.detail ?? (code === 'INTERNAL' ? 'Please report it with the request id.' : PROBLEMS[code].title),
    instance: request.originalUrl.split('?', 1)[0]!,
    code,
    ...(requestId === undefined ? {} : { requestId }),
    ...(extras.errors === undefined ? {} : { errors: extras.errors.map(({ pointer, message }) => ({ pointer, message })) }),
  };
}

/** The page that explains a code, relative to the service's own address (RFC 9457, section 3.1.1). */
export function problemType(code: ProblemCode): string {
  return `/docs/errors#${code.toLowerCase().replaceAll('_', '-')}`;
}
