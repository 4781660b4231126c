import type { RequestHandler } from 'express';
import { contextOf } from '../http/request/request-context.js';
import { routePattern } from '../http/route-pattern.js';
import type { Tracing } from './tracing.js';

/** A span for each request, by the pattern of its route: paths hold ids, and queries may hold credentials. What follows is its child. */
export function traceRequests(tracing: Tracing): RequestHandler {
  return (request, response, next) => {
    const context = contextOf(request);
    if (context === undefined) return next();
    const { method } = request;
    const facts = { 'http.request.method': method };
    const span = tracing.begin({ name: method, kind: 'server', parent: context.traceparent, facts });
    context.traceparent = span.traceparent;
    context.traceId = span.traceparent.split('-')[1]!;
    response.once('close', () => {
      const route = routePattern(request);
      const { statusCode } = response;
      span.end({
        ...(route === undefined ? {} : { name: `${method} ${route}` }),
        facts: { 'http.response.status_code': statusCode, ...(route === undefined ? {} : { 'http.route': route }) },
        ...(statusCode >= 500 ? { failure: String(statusCode) } : {}),
      });
    });
    next();
  };
}
