import { Problem } from '../../../platform/http/reply/problem.js';
import { Semaphore } from '../../../platform/wake/semaphore.js';

/** How many verifications a server runs at a time: each has three threads, and three connections beside the pool. */
const AT_ONCE = 2;
/** How many run or wait on a server, and how many of the same organizations. */
const PER_SERVER = 16;
const PER_SCOPE = 4;
const RETRY_SECONDS = 30;

/** Runs verifications in the order in which they were asked for, a few at a time. */
export class VerificationQueue {
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
