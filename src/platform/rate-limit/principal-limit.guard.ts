import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerRequest } from '@nestjs/throttler';
import type { Response } from 'express';
import { type AuthenticatedRequest, callerOf } from '../auth/access/access.decorator.js';
import type { PrincipalLimit } from './principal-limit.js';
import { limited, showRate } from './rate-headers.js';
import { principalSubject } from './subjects.js';

/**
 * The throttler's guard with our answer: one count for each principal over all routes, problem+json, the plain
 * `Retry-After` and the IETF headers. (Its own has a count for each handler, and `X-RateLimit-*` headers.)
 */
@Injectable()
export class PrincipalLimitGuard extends ThrottlerGuard implements PrincipalLimit {
  get on(): boolean {
    return this.throttlers.length > 0;
  }

  protected override async handleRequest(asked: ThrottlerRequest): Promise<boolean> {
    const { context, limit, ttl, blockDuration, throttler, generateKey } = asked;
    const key = generateKey(context, '', throttler.name!);
    const counted = await this.storageService.increment(key, ttl, limit, blockDuration, throttler.name!);
    const { totalHits, timeToExpire, isBlocked } = counted;
    const answer = { allowed: !isBlocked, remaining: limit - totalHits, endsInMs: timeToExpire * 1_000 };
    if (isBlocked) throw limited('principal', limit, answer);
    showRate(context.switchToHttp().getResponse<Response>(), 'principal', limit, answer);
    return true;
  }
}

/** The name under which a verified caller is counted. */
export function subjectOfCaller(context: ExecutionContext): string {
  return principalSubject(callerOf(context.switchToHttp().getRequest<AuthenticatedRequest>()).principal);
}
