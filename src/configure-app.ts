import type { Server } from 'node:http';
import type { NestApplicationOptions } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import cors from 'cors';
import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import { SESSION_COOKIE } from './platform/auth/credentials/bearer.js';
import { cookieNames } from './platform/auth/credentials/cookies.js';
import { DEFAULT_BODY_LIMIT, readBodies, type BodyLimits } from './platform/http/request/body-reader.js';
import { serveDocs } from './platform/http/openapi/docs-routes.js';
import { buildOpenApi } from './platform/http/openapi/openapi.js';
import { ProblemFilter } from './platform/http/reply/problem.filter.js';
import { ReplyInterceptor } from './platform/http/reply/reply.interceptor.js';
import { openRequestContext } from './platform/http/request/request-context.js';
import { logRequests } from './platform/http/request/request-log.js';
import { securityHeaders } from './platform/http/reply/security-headers.js';
import { repeatRequestId, vendorForm } from './modules/llm/wire/vendor-form.js';
import type { Metrics } from './platform/metrics/metrics.js';
import { observeRequests } from './platform/metrics/observe-requests.js';
import type { AddressLimit } from './platform/rate-limit/address-limit.js';
import { traceRequests } from './platform/tracing/trace-requests.js';
import type { Tracing } from './platform/tracing/tracing.js';

/** What the pipeline needs of the configuration. */
export interface PipelineSettings {
  readonly corsOrigins: readonly string[];
  readonly trustedProxies: readonly string[];
  /** Where people reach the service; without it no sessions are read. */
  readonly appUrl?: string;
  /** None: addresses may call as often as they like. */
  readonly addressLimit?: AddressLimit;
  /** None: nobody looks at how long calls take. */
  readonly metrics?: Metrics;
  /** None: nobody is told what took how long. */
  readonly tracing?: Tracing;
}

/** How the application must be created: bodies are read by us, and open streams must not keep a server from stopping. */
export const APP_OPTIONS = { bodyParser: false, forceCloseConnections: true } as const satisfies NestApplicationOptions;

const LLM_BODY_LIMIT = 4 * 1024 * 1024;
const BODY_LIMITS: BodyLimits = { limit: DEFAULT_BODY_LIMIT, prefixes: [{ prefix: '/api/v1/llm/', limit: LLM_BODY_LIMIT }] };

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;

/**
 * Builds the pipeline in front of and around the handlers. The order matters: what stands further up also holds for
 * the refusals of what stands below.
 *
 * request context → traces → log → metrics → CORS → security headers → limit of addresses → documentation → body reader → (Nest) guard,
 * with the limit of principals → handler → problem filter
 */
export function configureApp(app: NestExpressApplication, config: PipelineSettings, logger: Logger): void {
  app.set('etag', false);
  app.disable('x-powered-by');
  app.set('query parser', 'simple');
  app.set('trust proxy', false);
  if (config.appUrl !== undefined) app.set(SESSION_COOKIE, cookieNames(config.appUrl).session);
  limitTime(app.getHttpServer() as Server);

  app.use(openRequestContext(config.trustedProxies, logger));
  if (config.tracing !== undefined) app.use('/api/v1', traceRequests(config.tracing));
  app.use(logRequests(logger));
  if (config.metrics !== undefined) app.use(observeRequests(config.metrics));
  app.use('/api/v1/llm', repeatRequestId);
  if (config.corsOrigins.length > 0) app.use(crossOrigin(config.corsOrigins));
  app.use(...securityHeaders());
  if (config.addressLimit !== undefined) app.use(config.addressLimit.onArrival);
  app.use(serveDocs(() => buildOpenApi(app)));
  app.use(readBodies(BODY_LIMITS));

  app.useGlobalFilters(new ProblemFilter(logger, config.addressLimit, vendorForm));
  app.useGlobalInterceptors(new ReplyInterceptor(process.env['COUNTERSIGN_STRICT_REPLIES'] === '1'));
}

/** A caller who sends a byte a second holds a socket for this long at most, and the time between two of Node's checks. */
function limitTime(server: Server): void {
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
}

/** Pages of these very origins, and of no other, may also call by the session of whoever sees them. */
function crossOrigin(origins: readonly string[]): RequestHandler {
  return cors({
    origin: [...origins],
    credentials: true,
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: [
      'Authorization', 'Content-Type', 'Idempotency-Key', 'Last-Event-ID', 'Prefer', 'X-API-Key', 'X-Agent-Id', 'X-Request-Id',
      'X-Scan-Pii', 'anthropic-beta', 'anthropic-version', 'traceparent',
    ],
    exposedHeaders: [
      'Idempotent-Replayed', 'Link', 'Preference-Applied', 'RateLimit', 'RateLimit-Policy', 'Request-Id', 'Retry-After',
      'X-Pii-Detected', 'X-Pii-Redacted', 'X-Request-Id',
    ],
    maxAge: 600,
  }) as RequestHandler;
}
