import type { Request, RequestHandler, Response } from 'express';
import { routePattern } from '../http/route-pattern.js';
import type { Metrics } from './metrics.js';

const WAITS = /\bwait\b/i;

/** Observes how long requests take, by the pattern of their route. */
export function observeRequests(metrics: Metrics): RequestHandler {
  return (request, response, next) => {
    const begun = performance.now();
    response.once('close', () => {
      if (isHeldOpen(request, response)) return;
      const status = `${Math.floor(response.statusCode / 100)}xx`;
      const labels = { method: request.method, route: routePattern(request) ?? 'none', status };
      metrics.observe('countersign_http_request_seconds', labels, (performance.now() - begun) / 1_000);
    });
    next();
  };
}

/** How long these take says how long somebody wanted to wait. */
function isHeldOpen({ headers: { prefer } }: Request, response: Response): boolean {
  if (response.statusCode >= 400) return false;
  return (typeof prefer === 'string' && WAITS.test(prefer)) || String(response.getHeader('content-type')).startsWith('text/event-stream');
}
