import type { ExecutionContext } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import type { LeasedQuotas } from './leased-quotas.js';

/** How often a principal may call, whatever it calls. Asked by the guard as soon as it knows who calls. */
export abstract class PrincipalLimit {
  /** False: RATE_LIMIT_PRINCIPAL is 0, and nobody needs to ask. */
  abstract readonly on: boolean;
  /** @throws Problem RATE_LIMITED */
  abstract canActivate(context: ExecutionContext): Promise<boolean>;
}

type ThrottlerRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** Leased quotas in the form in which @nestjs/throttler asks for its counts. Times are in seconds there. */
export class LeasedStorage implements ThrottlerStorage {
  constructor(
    private readonly quotas: LeasedQuotas,
    private readonly limit: number,
  ) {}

  async increment(key: string): Promise<ThrottlerRecord> {
    const asked = this.quotas.take(key);
    const verdict = asked instanceof Promise ? await asked : asked;
    if (verdict === undefined) return { totalHits: 0, timeToExpire: 0, isBlocked: false, timeToBlockExpire: 0 };
    const timeToExpire = verdict.endsInMs / 1_000;
    return {
      totalHits: this.limit - verdict.remaining,
      timeToExpire,
      isBlocked: !verdict.allowed,
      timeToBlockExpire: verdict.allowed ? 0 : timeToExpire,
    };
  }
}
