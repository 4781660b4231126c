import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Logger } from 'pino';
import { AppModule } from './app.module.js';
import { APP_OPTIONS, configureApp } from './configure-app.js';
import { assertEveryRouteDeclared } from './platform/auth/access/declared-routes.js';
import type { CompleteConfig } from './platform/config/config.js';
import { CallGuard } from './platform/http/request/call.guard.js';
import { ReplayFilter } from './platform/http/request/idempotent.js';
import { RecordedInterceptor } from './platform/http/reply/recorded.interceptor.js';
import { NestLogger } from './platform/logging/nest-logger.js';
import { Metrics } from './platform/metrics/metrics.js';
import { AddressLimit } from './platform/rate-limit/address-limit.js';
import { Tracing } from './platform/tracing/tracing.js';

/** Builds the application, ready to listen. A route without a declared access stops the start. */
export async function createApp(config: CompleteConfig, logger: Logger): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(AppModule.forRoot(config, logger), {
    ...APP_OPTIONS,
    abortOnError: false,
    logger: new NestLogger(logger),
  });
  const metrics = config.metricsPort === undefined ? {} : { metrics: app.get(Metrics) };
  const tracing = config.otelExporterOtlpEndpoint === undefined ? {} : { tracing: app.get(Tracing) };
  configureApp(app, { ...config, ...metrics, ...tracing, addressLimit: app.get(AddressLimit) }, logger);
  if (process.env['COUNTERSIGN_STRICT_REPLIES'] === '1') app.useGlobalInterceptors(new RecordedInterceptor());
  app.useGlobalGuards(app.get(CallGuard));
  // The last filter is asked first.
  app.useGlobalFilters(new ReplayFilter());
  assertEveryRouteDeclared(app);
  await app.init();
  return app;
}
