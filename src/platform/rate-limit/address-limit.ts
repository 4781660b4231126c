import { Inject, Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import type { Logger } from 'pino';
import { SESSION_COOKIE } from '../auth/credentials/bearer.js';
import { cookieValue } from '../auth/credentials/cookies.js';
import { CONFIG, type CompleteConfig } from '../config/config.js';
import { contextOf } from '../http/request/request-context.js';
import { LOGGER } from '../logging/token.js';
import { LeasedQuotas } from './leased-quotas.js';
import { QuotaStore } from './quota.store.js';
import { limited, rateHeaders, WINDOW_SECONDS } from './rate-headers.js';
import { addressSubject } from './subjects.js';

const ADDRESSES_KEPT = 10_000;

/** Never limited: a monitor must not be answered that the server is busy. */
const HEALTH = /^\/health(?:\/|$)/i;
/** Answered before anybody looks at a credential. */
const DOCUMENTATION = /^\/(?:docs(?:\/|$)|openapi\.json\/?$)/;

/**
 * How often an address may call without a good credential. A call that shows none counts when it comes in; one that does
 * counts when it turns out that the credential is not good, or that nobody looked at it. So a good credential passes
 * from any address, however much others have called from there.
 */
@Injectable()
export class AddressLimit {
  private readonly limit: number;
  private readonly quotas: LeasedQuotas | undefined;
  // A call counts once, wherever it is refused in the end.
  private readonly counted = new WeakSet<Request>();

  constructor(@Inject(CONFIG) config: CompleteConfig, store: QuotaStore, @Inject(LOGGER) logger: Logger) {
    this.limit = config.rateLimitAnonymous;
    if (this.limit === 0) return;
    this.quotas = new LeasedQuotas(store, {
      limit: this.limit,
      windowSeconds: WINDOW_SECONDS,
      capacity: ADDRESSES_KEPT,
      onAway: (error) => logger.warn({ err: error }, 'calls of addresses are not limited: their quota cannot be read'),
    });
  }

  /** Middleware in front of all routes. */
  readonly onArrival = (request: Request, _: Response, next: NextFunction): void => {
    if (showsCredential(request) && !DOCUMENTATION.test(request.path)) return next();
    this.take(request).then(() => next(), next);
  };

  /**
   * Counts a call that has shown no good credential.
   * @throws Problem RATE_LIMITED
   */
  async take(request: Request): Promise<void> {
    if (this.quotas === undefined || this.counted.has(request) || HEALTH.test(request.path)) return;
    this.counted.add(request);
    const headers = await this.takeFrom(contextOf(request)?.address);
    if (request.res?.headersSent !== false) return;
    for (const name in headers) request.res.setHeader(name, headers[name]!);
  }

  /**
   * Counts a call whose credential was found not to hold after the guard had let it pass.
   * @param address in its canonical spelling
   * @returns the headers that the answer has to carry
   * @throws Problem RATE_LIMITED
   */
  async takeFrom(address: string | undefined): Promise<Record<string, string>> {
    const answer = await this.quotas?.take(addressSubject(address));
    // The call cannot be counted. Refusing an unknown caller needs no database, and neither does the documentation.
    if (answer === undefined) return {};
    if (!answer.allowed) throw limited('address', this.limit, answer);
    return rateHeaders('address', this.limit, answer);
  }

  /** Whether the call's address is known to have used its quota up, so that a further refusal will be 429. Counts nothing. */
  isSpent(request: Request): boolean {
    return this.quotas?.isSpent(addressSubject(contextOf(request)?.address)) === true;
  }

  /** Whether a refusal still has to be counted: nobody verified who called, and it was not counted before. */
  concerns(request: Request): boolean {
    return this.quotas !== undefined && contextOf(request)?.caller === undefined && !this.counted.has(request);
  }
}

function showsCredential({ headers, app }: Request): boolean {
  if (headers.authorization !== undefined || headers['x-api-key'] !== undefined) return true;
  if (headers.cookie === undefined) return false;
  const name = app.get(SESSION_COOKIE) as string | undefined;
  return name !== undefined && cookieValue(headers.cookie, name) !== undefined;
}
