const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 3_600_000;
/** What cannot be delivered for a day is given up. */
const TRIED_FOR_MS = 24 * 3_600_000;

/** Of a delivery that failed: how long it has been tried, how often, and what its receiver asked for. */
export interface FailedAttempt {
  readonly attempts: number;
  readonly sinceMs: number;
  /** The receiver's `Retry-After`. */
  readonly afterMs?: number;
}

/**
 * The pause before the next attempt, in milliseconds: from 5 s, doubling to an hour, a quarter of it by chance, so that what failed
 * together does not come back together. What the receiver asked for is obeyed, up to an hour.
 *
 * @returns undefined where it is given up
 */
export function pauseAfter({ attempts, sinceMs, afterMs = 0 }: FailedAttempt, random: () => number = Math.random): number | undefined {
  if (sinceMs >= TRIED_FOR_MS) return undefined;
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(attempts - 1, 20));
  return Math.max(pause * (0.75 + random() / 4), Math.min(afterMs, LONGEST_PAUSE_MS));
}
