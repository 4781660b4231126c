import { setTimeout as pause } from 'node:timers/promises';
import type { Scope } from '../../../platform/auth/scope.js';
import { Problem } from '../../../platform/http/problem.js';

/** How many verifications a server runs at a time, and of the same organizations: each has threads, and connections past the pool. */
const AT_ONCE = 4;
const OF_THE_SAME = 2;
const RETRY_SECONDS = 30;
/** Most logs are verified in less: whoever comes meanwhile waits for a place, for so long. */
const PATIENCE_MS = 5_000;
const LOOK_EVERY_MS = 50;

/** Gives a place back, once. */
export type GiveBack = () => void;

/** Where a server verifies. Whoever only shares what is under way needs no place. */
export class VerificationPlaces {
  /** For each that is taken, of which organizations. */
  private readonly taken = new Set<{ readonly of: string }>();

  /** @returns undefined when there is none */
  take({ organizations }: Scope): GiveBack | undefined {
    const place = { of: JSON.stringify(organizations) };
    const same = [...this.taken].filter(({ of }) => of === place.of);
    if (this.taken.size >= AT_ONCE || same.length >= OF_THE_SAME) return undefined;
    this.taken.add(place);
    return () => void this.taken.delete(place);
  }

  /**
   * Waits for one.
   *
   * @returns undefined as soon as it is not needed any more
   * @throws Problem UNAVAILABLE when none has come for a while
   */
  async wait(scope: Scope, isNeeded = (): boolean => true): Promise<GiveBack | undefined> {
    for (const deadline = performance.now() + PATIENCE_MS; isNeeded(); await pause(LOOK_EVERY_MS)) {
      const place = this.take(scope);
      if (place) return place;
      if (performance.now() >= deadline) throw noPlace();
    }
    return undefined;
  }
}

export function noPlace(): Problem {
  return new Problem('UNAVAILABLE', 'As many verifications are under way here as may be. Try again in a moment.', {
    headers: { 'Retry-After': String(RETRY_SECONDS) },
  });
}
