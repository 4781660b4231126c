import type { ExecutionContext } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { faultOf } from '../http/reply/database-faults.js';
import { unavailable } from '../http/reply/failure.js';
import { Problem } from '../http/reply/problem.js';
import type { LeasedQuotas } from './leased-quotas.js';

/** How often a principal may call, whatever it calls. Asked by the guard as soon as it knows who calls. */
export abstract class PrincipalLimit {
  /** False: RATE_LIMIT_PRINCIPAL is 0, and nobody needs to ask. */
  abstract readonly on: boolean;
  /** @throws Problem RATE_LIMITED, UNAVAILABLE */
  abstract canActivate(context: ExecutionContext): Promise<boolean>;
}

type ThrottlerRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** Leased quotas in the form in which @nestjs/throttler asks for its counts. Times are in seconds there. */
export class LeasedStorage implements ThrottlerStorage {
  constructor(
    private readonly quotas: LeasedQuotas,
    private readonly limit: number,
  ) {}

  /** @throws Problem UNAVAILABLE while no lease can be had */
  async increment(key: string): Promise<ThrottlerRecord> {
    const asked = this.quotas.take(key);
    const answer = asked instanceof Promise ? await asked : asked;
    // The call itself would need the same database. Letting calls pass would switch the limit off under overload, when it matters.
    if (answer === undefined) throw notCounted(this.quotas.awayBecause);
    const timeToExpire = answer.endsInMs / 1_000;
    return {
      totalHits: this.limit - answer.remaining,
      timeToExpire,
      isBlocked: !answer.allowed,
      timeToBlockExpire: answer.allowed ? 0 : timeToExpire,
    };
  }
}

function notCounted(because: unknown): Problem {
  const shown = faultOf(because);
  return shown ? unavailable(shown.fault) : new Problem('UNAVAILABLE', 'Calls cannot be counted now. Please try again in a moment.');
}
