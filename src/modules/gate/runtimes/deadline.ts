/**
 * A moment after which nothing is begun, by both clocks of this process, whichever is further on: the wall clock may be set back,
 * and the monotonic one stands still while the machine sleeps.
 */
export class Deadline {
  private constructor(
    /** The moment by the wall clock, for the receivers of a call. */
    readonly at: Date,
    private readonly monotonicMs: number,
  ) {}

  static in(ms: number): Deadline {
    return new Deadline(new Date(Date.now() + ms), performance.now() + ms);
  }

  /** Milliseconds; 0 or less once it has passed. */
  left(): number {
    return Math.min(this.at.getTime() - Date.now(), this.monotonicMs - performance.now());
  }
}
