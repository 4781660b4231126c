import { Problem } from '../../../platform/http/reply/problem.js';

/** How many verifications a server runs at a time: each has three threads, and three connections beside the pool. */
const AT_ONCE = 2;
/** How many run or wait on a server, and how many of the same organizations. */
const PER_SERVER = 16;
const PER_SCOPE = 4;
const RETRY_SECONDS = 30;

/** Runs verifications in the order in which they were asked for, a few at a time. */
export class VerificationQueue {
  private running = 0;
  private readonly waiting: (() => void)[] = [];
  /** How many run or wait, by the organizations that are verified. */
  private readonly perScope = new Map<string, number>();

  /** @throws Problem UNAVAILABLE where as many run or wait as may */
  async run<Result>(scope: string, work: () => Promise<Result>): Promise<Result> {
    const ofScope = this.perScope.get(scope) ?? 0;
    if (ofScope >= PER_SCOPE || this.running + this.waiting.length >= PER_SERVER) throw queueFull();
    this.perScope.set(scope, ofScope + 1);
    try {
      await this.slot();
      return await work().finally(() => this.release());
    } finally {
      const left = this.perScope.get(scope)! - 1;
      if (left === 0) this.perScope.delete(scope);
      else this.perScope.set(scope, left);
    }
  }

  private async slot(): Promise<void> {
    if (this.running < AT_ONCE) this.running++;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  /** The slot passes to the next in the queue. */
  private release(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.running--;
  }
}

function queueFull(): Problem {
  return new Problem('UNAVAILABLE', 'As many verifications are queued here as may be. Try again in a moment.', {
    headers: { 'Retry-After': String(RETRY_SECONDS) },
  });
}
