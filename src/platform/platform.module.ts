import { type DynamicModule, Global, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import type { Logger } from 'pino';
import { AuditPortsModule } from './audit/audit-ports.module.js';
import { AuthModule } from './auth/auth.module.js';
import { CONFIG, type CompleteConfig } from './config/config.js';
import { DatabaseModule } from './database/database.module.js';
import { Entitlements } from './commerce/entitlements.js';
import { CallGuard } from './http/request/call.guard.js';
import { Ending } from './http/ending.js';
import { HealthController } from './http/health.controller.js';
import { VersionController } from './http/version.controller.js';
import { LOGGER } from './logging/token.js';
import { Mailer } from './mail/mailer.js';
import { SendMailHandler } from './mail/send-mail.handler.js';
import { Smtp } from './mail/smtp.js';
import { McpClient } from './outbound/mcp/mcp-client.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { OutboundGuard } from './outbound/outbound-guard.js';
import { OutboxModule } from './outbox/outbox.module.js';
import { RateLimitModule } from './rate-limit/rate-limit.module.js';
import { SealedBox } from './secrets/sealed-box.js';
import { TracingModule } from './tracing/tracing.module.js';
import { WakeModule } from './wake/wake.module.js';

/** What every module stands on: configuration, log, database, guards, outbox, the way out. */
@Global()
@Module({})
export class PlatformModule {
  static forRoot(config: CompleteConfig, logger: Logger): DynamicModule {
    return {
      module: PlatformModule,
      imports: [
        ScheduleModule.forRoot(), MetricsModule, TracingModule, DatabaseModule, AuditPortsModule, RateLimitModule, AuthModule, OutboxModule,
        WakeModule,
      ],
      controllers: [HealthController, VersionController],
      providers: [
        { provide: CONFIG, useValue: config },
        { provide: LOGGER, useValue: logger },
        { provide: OutboundGuard, useFactory: () => new OutboundGuard({ production: config.production, allow: config.outboundAllow }) },
        CallGuard, Ending, Entitlements, Mailer, McpClient, SealedBox, Smtp, SendMailHandler,
      ],
      exports: [CONFIG, LOGGER, OutboundGuard, CallGuard, Entitlements, Mailer, McpClient, SealedBox, Smtp],
    };
  }
}
