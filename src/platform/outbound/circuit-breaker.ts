const OPENS_AFTER = 5;
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Keeps calls from a peer that fails: after five failures in a row nobody calls for a while; then one does, and what comes of it
 * decides for all. The pause doubles while it goes on failing.
 */
export class CircuitBreaker {
  private failures = 0;
  private opensAt = -Infinity;
  private isTrying = false;

  constructor(private readonly clock: () => number = () => performance.now()) {}

  /** Whether a call would be let through now. */
  get isOpen(): boolean {
    return this.failures >= OPENS_AFTER && (this.isTrying || this.clock() < this.opensAt);
  }

  /** @returns whether the call may be made; then `succeeded`, `failed` or `dropped` has to follow */
  enter(): boolean {
    if (this.isOpen) return false;
    if (this.failures >= OPENS_AFTER) this.isTrying = true;
    return true;
  }

  /** The peer has answered, be it with a refusal. */
  succeeded(): void {
    this.failures = 0;
    this.isTrying = false;
  }

  failed(): void {
    this.failures++;
    this.isTrying = false;
    const more = Math.min(this.failures - OPENS_AFTER, 20);
    if (more >= 0) this.opensAt = this.clock() + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** more);
  }

  /** The call was not made after all. */
  dropped(): void {
    this.isTrying = false;
  }
}
