import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { answered } from '../reply/problem.filter.js';
import { contextOf } from './request-context.js';

const LONGEST_SEGMENT = 48;

/**
 * A path as it may be logged: without the query, which may hold credentials, and with what is too long to be an id cut
 * short, since links of decision pages and invitations carry their secret in the path.
 */
export function loggedPath(url: string): string {
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  if (path.length <= LONGEST_SEGMENT) return path;
  return path
    .split('/')
    .map((segment) => (segment.length > LONGEST_SEGMENT ? `${segment.slice(0, 8)}…` : segment))
    .join('/');
}

/**
 * One line per request, written when it is over: who asked what and how it ended. No header, no body and no query is on
 * it. pino-http is not used: the loggers that it makes for every request cost more than the line (a tenth of a small
 * request), and would have to be configured to leave the headers out.
 */
export function logRequests(logger: Logger): RequestHandler {
  // The members are named below. The logger's own redaction looks into each with wildcards, for members that somebody
  // might hand in; here that is a quarter of a request's time, and these stay as a second lock.
  const lines = logger.child({}, { redact: ['authorization', 'cookie', '["x-api-key"]'] });
  return (request, response, next) => {
    const began = performance.now();
    response.once('close', () => {
      lines[levelOf(request, response)](line(request, response, performance.now() - began), 'request');
    });
    next();
  };
}

function levelOf(request: Request, response: Response): 'debug' | 'info' | 'warn' {
  if (response.statusCode >= 500) return 'warn';
  return /^\/health(?:\/|\?|$)/.test(request.originalUrl) ? 'debug' : 'info';
}

function line(request: Request, response: Response, took: number): object {
  const context = contextOf(request);
  const problem = answered.get(response);
  return {
    requestId: context?.requestId,
    method: request.method,
    path: loggedPath(request.originalUrl),
    status: response.statusCode,
    ms: Math.round(took * 10) / 10,
    aborted: response.writableFinished ? undefined : true,
    code: problem?.code,
    // Of what passes there is no other line.
    detail: problem?.code === 'UNAVAILABLE' ? problem.detail : undefined,
    actor: context?.actorId,
    address: context?.address,
    traceId: context?.traceId,
  };
}
