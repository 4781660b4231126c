import { Problem } from '../../../../platform/http/reply/problem.js';

/**
 * How many verifications a server runs at a time, and for the same house: each has threads, and connections past the pool. The last of
 * them is for a house that runs none, so that no two houses keep a third from verifying.
 */
const AT_ONCE = 4;
const OF_THE_SAME = 2;
const RETRY_SECONDS = 30;
/** Most logs are verified in less: whoever comes meanwhile waits for a place, for so long. */
const PATIENCE_MS = 5_000;

/**
 * Whose a verification is: tenants, and organizations without one. Two that share any are of the same house. Who sees everything is a
 * house of their own: else they would wait for everybody, and everybody for them.
 */
export type House = readonly string[];

/** Gives a place back, once. */
export type GiveBack = () => void;

interface Waiter {
  readonly house: House;
  readonly isNeeded: () => boolean;
  readonly leave: (place: GiveBack | undefined) => void;
}

/** Where a server verifies. Whoever only shares what is under way needs no place. Who waits is served in turn, as far as the rule goes. */
export class VerificationPlaces {
  private readonly taken = new Set<{ readonly house: House }>();
  private readonly waiting = new Set<Waiter>();

  /** Nobody who waits could have had it: each has been offered what was given back. @returns undefined when there is none */
  take(house: House): GiveBack | undefined {
    const same = [...this.taken].filter((one) => one.house.some((id) => house.includes(id))).length;
    const most = same === 0 ? AT_ONCE : AT_ONCE - 1;
    if (this.taken.size >= most || same >= OF_THE_SAME) return undefined;
    const place = { house };
    this.taken.add(place);
    return () => {
      if (this.taken.delete(place)) this.offer();
    };
  }

  /**
   * Waits for one.
   *
   * @param isNeeded asked anew with each offer
   * @returns undefined where it is not needed any more
   * @throws Problem UNAVAILABLE when none has come for a while
   */
  async wait(house: House, isNeeded = (): boolean => true): Promise<GiveBack | undefined> {
    if (!isNeeded()) return undefined;
    return this.take(house) ?? new Promise((resolve, reject) => {
      const waiter: Waiter = {
        house, isNeeded,
        leave: (place) => {
          clearTimeout(patience);
          this.waiting.delete(waiter);
          resolve(place);
        },
      };
      const patience = setTimeout(() => {
        this.waiting.delete(waiter);
        reject(noPlace());
      }, PATIENCE_MS);
      this.waiting.add(waiter);
    });
  }

  /** Offers what is free to those who wait, in the order in which they came. */
  offer(): void {
    for (const { house, isNeeded, leave } of [...this.waiting]) {
      const place = isNeeded() ? this.take(house) : undefined;
      if (place || !isNeeded()) leave(place);
    }
  }
}

export function noPlace(): Problem {
  return new Problem('UNAVAILABLE', 'As many verifications are under way here as may be. Try again in a moment.', {
    headers: { 'Retry-After': String(RETRY_SECONDS) },
  });
}
