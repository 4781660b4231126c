import { Problem } from '../../../../platform/http/reply/problem.js';

export interface RefreshingCacheOptions {
  /** Milliseconds for which what was read is taken without a look. */
  readonly freshMs: number;
  /** Milliseconds for which it is still used while reading it anew fails. */
  readonly usableMs: number;
  readonly onFailure: (error: unknown) => void;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Something of the identity provider's that is read now and then, and known in between. However many ask, it is read once at a time;
 * while reading fails, it is tried again after 1, 2, 4 … 60 seconds, and whoever asks meanwhile is answered from memory.
 */
export class RefreshingCache<Value> {
  private known: { readonly value: Value; readonly at: number } | undefined;
  private reading: Promise<void> | undefined;
  private failures = 0;
  private nextTry = -Infinity;

  constructor(
    private readonly read: () => Promise<Value>,
    private readonly options: RefreshingCacheOptions,
    private readonly clock: () => number = () => performance.now(),
  ) {}

  /** @throws Problem UNAVAILABLE, with the seconds after which it is tried again */
  async get(): Promise<Value> {
    if (this.ageMs() >= this.options.freshMs) await this.renew();
    if (this.known !== undefined && this.ageMs() < this.options.usableMs) return this.known.value;
    const seconds = Math.max(1, Math.ceil((this.nextTry - this.clock()) / 1_000));
    throw new Problem('UNAVAILABLE', 'The identity provider cannot be asked right now. Try again in a moment.', {
      headers: { 'Retry-After': String(seconds) },
    });
  }

  /** Reads it anew, whatever its age, unless that is being done or has just failed. */
  async renew(): Promise<void> {
    if (this.reading === undefined && this.clock() < this.nextTry) return;
    this.reading ??= this.tryOnce().finally(() => {
      this.reading = undefined;
    });
    await this.reading;
  }

  private async tryOnce(): Promise<void> {
    try {
      const value = await this.read();
      this.known = { value, at: this.clock() };
      this.failures = 0;
      this.nextTry = -Infinity;
    } catch (error) {
      this.nextTry = this.clock() + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.failures);
      this.failures++;
      this.options.onFailure(error);
    }
  }

  private ageMs(): number {
    return this.known === undefined ? Infinity : this.clock() - this.known.at;
  }
}
