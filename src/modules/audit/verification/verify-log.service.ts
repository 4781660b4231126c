import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { isId } from '../../../domain/ids.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import type { Scope } from '../../../platform/auth/access/scope.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { Semaphore } from '../../../platform/wake/semaphore.js';
import { DatabaseVerifier } from './database-verifier.query.js';
import type { Verification } from './verification-result.js';
import { VerificationRateLimitStore } from './verification-rate-limit.store.js';

/** How many verifications a server runs at a time: each has up to three threads, and as many connections beside the pool. */
const AT_ONCE = 2;
/** How many run or wait on a server, and how many of the same organizations. */
const PER_SERVER = 16;
const PER_SCOPE = 4;
const RETRY_SECONDS = 30;

/**
 * Verifies the log on request. A caller who asks while this server verifies the same part of the log gets that answer, and their minute
 * does not begin; a verification that begins starts its caller's minute.
 */
@Injectable()
export class VerifyLogService {
  /** What runs on this server, by the part of the log. */
  private readonly running = new Map<string, Promise<Verification>>();
  private readonly queue = new VerificationQueue();

  constructor(
    @Inject(DatabaseVerifier) private readonly verifier: Pick<DatabaseVerifier, 'isNamed' | 'verify'>,
    @Inject(VerificationRateLimitStore) private readonly limit: Pick<VerificationRateLimitStore, 'take' | 'giveBack'>,
  ) {}

  /**
   * @throws Problem RATE_LIMITED for another verification within a minute of the last; NOT_FOUND for an agent without any entry;
   *   UNAVAILABLE while the queue is full
   */
  async verify(caller: Caller, agentId: string | undefined): Promise<Verification> {
    if (agentId !== undefined && !isId('agt', agentId)) throw unknownAgent();
    const organizations = JSON.stringify(caller.scope.organizations);
    const part = `${organizations} ${agentId ?? ''}`;
    for (;;) {
      const found = await (this.running.get(part) ?? this.queue.run(organizations, () => this.begin(part, caller, agentId)));
      if (!found) continue;
      if (isOfNothing(found, agentId)) throw unknownAgent();
      return found;
    }
  }

  /** In a slot of the queue. @returns undefined where the same part of the log has begun to be verified meanwhile, for another caller */
  private async begin(part: string, caller: Caller, agentId: string | undefined): Promise<Verification | undefined> {
    if (agentId !== undefined && !(await this.verifier.isNamed(caller.scope, agentId))) throw unknownAgent();
    if (this.running.has(part)) return undefined;
    const credential = credentialOf(caller);
    const seconds = await this.limit.take(credential);
    if (this.running.has(part)) {
      if (seconds === 0) await this.limit.giveBack(credential);
      return undefined;
    }
    if (seconds > 0) throw tooSoon(seconds);
    const run = this.run(caller.scope, agentId, credential).finally(() => this.running.delete(part));
    this.running.set(part, run);
    return run;
  }

  private async run(scope: Scope, agentId: string | undefined, credential: string): Promise<Verification> {
    let found: Verification | undefined;
    try {
      found = await this.verifier.verify(scope, agentId);
      return found;
    } finally {
      if (!found || isOfNothing(found, agentId)) await this.limit.giveBack(credential).catch(() => undefined);
    }
  }
}

/** An agent of which everything is gone is a finding, which is reported. */
function isOfNothing({ chains, breaksFound }: Verification, agentId: string | undefined): boolean {
  return agentId !== undefined && chains === 0 && breaksFound === 0;
}

function unknownAgent(): Problem {
  return new Problem('NOT_FOUND', 'No entry of this agent is here.');
}

function tooSoon(seconds: number): Problem {
  return new Problem('RATE_LIMITED', `The log is verified once a minute for each credential. Ask again in ${seconds} s.`, {
    headers: { 'Retry-After': String(seconds) },
  });
}

function credentialOf({ principal, actorId }: Caller): string {
  // A hash of the stored hash: the table names no credential.
  const text = principal.kind === 'root' ? `root ${principal.keyHash}` : `${principal.kind} ${actorId}`;
  return createHash('sha256').update(text).digest('hex');
}

/** Runs verifications in the order in which they were asked for, a few at a time. */
class VerificationQueue {
  private readonly slots = new Semaphore(AT_ONCE);
  /** Of all that run or wait, the organizations that are verified. */
  private readonly scopes: string[] = [];

  /** @throws Problem UNAVAILABLE where as many run or wait as may */
  async run<Result>(scope: string, work: () => Promise<Result>): Promise<Result> {
    const ofScope = this.scopes.filter((one) => one === scope).length;
    if (ofScope >= PER_SCOPE || this.scopes.length >= PER_SERVER) {
      const headers = { 'Retry-After': String(RETRY_SECONDS) };
      throw new Problem('UNAVAILABLE', 'As many verifications are queued here as may be. Try again in a moment.', { headers });
    }
    this.scopes.push(scope);
    return this.slots.run(work).finally(() => this.scopes.splice(this.scopes.indexOf(scope), 1));
  }
}
