import { Global, Module } from '@nestjs/common';
import { ThrottlerModule, type ThrottlerModuleOptions } from '@nestjs/throttler';
import type { Logger } from 'pino';
import { CONFIG, type CompleteConfig } from '../config/config.js';
import { LOGGER } from '../logging/token.js';
import { AddressLimit } from './address-limit.js';
import { LeasedQuotas } from './leased-quotas.js';
import { PrincipalLimitGuard, subjectOfCaller } from './principal-limit.guard.js';
import { LeasedStorage, PrincipalLimit } from './principal-limit.js';
import { QuotaStore } from './quota.store.js';
import { WINDOW_SECONDS } from './rate-headers.js';

/** So many that none falls out before its window has ended: a lease that is lost is quota that is lost. */
const PRINCIPALS_KEPT = 100_000;

/** The shared counts, of their own module because the throttler's options are made from them. */
@Global()
@Module({ providers: [QuotaStore], exports: [QuotaStore] })
class QuotaModule {}

/** How often addresses and principals may call, over all replicas together. */
@Global()
@Module({
  imports: [
    QuotaModule,
    ThrottlerModule.forRootAsync({ inject: [CONFIG, QuotaStore, LOGGER], useFactory: throttlerOptions }),
  ],
  providers: [AddressLimit, PrincipalLimitGuard, { provide: PrincipalLimit, useExisting: PrincipalLimitGuard }],
  exports: [AddressLimit, PrincipalLimit],
})
export class RateLimitModule {}

function throttlerOptions(config: CompleteConfig, store: QuotaStore, logger: Logger): ThrottlerModuleOptions {
  const { rateLimitPrincipal: limit } = config;
  if (limit === 0) return { throttlers: [] };
  const quotas = new LeasedQuotas(store, {
    limit,
    windowSeconds: WINDOW_SECONDS,
    capacity: PRINCIPALS_KEPT,
    onAway: (error) => logger.warn({ err: error }, 'calls are refused while the database cannot be asked for quotas'),
  });
  return {
    storage: new LeasedStorage(quotas, limit),
    throttlers: [{ limit, ttl: WINDOW_SECONDS * 1_000 }],
    generateKey: subjectOfCaller,
  };
}
