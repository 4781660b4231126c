import { CountersignError } from '../errors.js';

/** The longest that timers take, 24 days; a deadline beyond it is none. */
const TIMER_MAX = 2 ** 31 - 1;

/** One listener for each signal, however many calls it ends: of more than ten Node.js warns. */
const LISTENERS = new WeakMap<AbortSignal, Set<() => void>>();

function listenersOf(signal: AbortSignal): Set<() => void> {
  const known = LISTENERS.get(signal);
  if (known !== undefined) return known;
  const made = new Set<() => void>();
  LISTENERS.set(signal, made);
  signal.addEventListener('abort', () => made.forEach((listener) => listener()), { once: true });
  return made;
}

/** Bounds one call, all of its attempts and the pauses between them, by time and by the caller's signal. It holds one timer at most. */
export class Deadline {
  readonly #endsAt: number;
  readonly #caller: AbortSignal | undefined;
  readonly #onAbort = () => this.#end(new CountersignError('ABORTED', { cause: this.#caller?.reason }));
  #error: CountersignError | undefined;
  #stop: ((error: CountersignError) => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param ms from now on. @throws CountersignError INVALID_OPTIONS for what is no number, or no signal */
  constructor(ms: number, caller?: AbortSignal) {
    this.#endsAt = performance.now() + checkedMs(ms);
    if (caller !== undefined && typeof caller?.addEventListener !== 'function') {
      throw new CountersignError('INVALID_OPTIONS', { detail: 'signal must be an AbortSignal, such as that of an AbortController.' });
    }
    this.#caller = caller;
    if (caller?.aborted) this.#onAbort();
    else if (caller) listenersOf(caller).add(this.#onAbort);
  }

  get remainingMs(): number {
    return Math.max(0, this.#endsAt - performance.now());
  }

  /** What it was ended by. */
  get error(): CountersignError | undefined {
    return this.#error;
  }

  /** Runs one attempt, and ends it when the deadline or its own time is over. */
  async bound<T>(attempt: (signal: AbortSignal) => Promise<T>, attemptMs = Infinity): Promise<T> {
    this.#throwIfOver();
    const controller = new AbortController();
    this.#stop = (error) => controller.abort(error);
    const left = this.remainingMs;
    this.#arm(Math.min(left, attemptMs), () => {
      if (left <= attemptMs) this.#end(new CountersignError('DEADLINE_EXCEEDED'));
      else controller.abort(new CountersignError('UNREACHABLE', { detail: `No answer came within ${attemptMs} ms.` }));
    });
    return attempt(controller.signal).finally(() => this.#rest());
  }

  /** Waits for something that is shared, and goes on without this caller. */
  async race<T>(shared: Promise<T>): Promise<T> {
    // Nobody listens to it where this is over already: its failure would end the process.
    shared.catch(() => undefined);
    this.#throwIfOver();
    return new Promise<T>((resolve, reject) => {
      this.#stop = reject;
      this.#arm(this.remainingMs, () => this.#end(new CountersignError('DEADLINE_EXCEEDED')));
      shared.then(resolve, reject);
    }).finally(() => this.#rest());
  }

  /** @throws CountersignError when the caller aborts meanwhile */
  async pause(ms: number): Promise<void> {
    this.#throwIfOver();
    return new Promise<void>((resolve, reject) => {
      this.#stop = reject;
      this.#arm(ms, resolve);
    }).finally(() => this.#rest());
  }

  /** Lets go of the caller's signal. */
  end(): void {
    if (this.#caller) listenersOf(this.#caller).delete(this.#onAbort);
  }

  #throwIfOver(): void {
    if (this.#error === undefined && this.remainingMs === 0) this.#end(new CountersignError('DEADLINE_EXCEEDED'));
    if (this.#error) throw this.#error;
  }

  #end(error: CountersignError): void {
    this.#error ??= error;
    this.#stop?.(this.#error);
  }

  #arm(ms: number, then: () => void): void {
    if (ms < TIMER_MAX) this.#timer = setTimeout(then, ms);
  }

  #rest(): void {
    clearTimeout(this.#timer);
    this.#stop = undefined;
  }
}

/** @throws CountersignError INVALID_OPTIONS for what is no number: a wait without an end is asked for by `Infinity` */
export function checkedMs(ms: number): number {
  if (typeof ms === 'number' && !Number.isNaN(ms)) return ms;
  throw new CountersignError('INVALID_OPTIONS', { detail: 'A time must be a number of milliseconds.' });
}
