import type { Deadline } from '../http/deadline.js';

/** Half of what the service holds for one caller, who may have other processes. */
const HELD = 32;
/** Looks that are answered at once. */
const BRIEF = 16;
/** Between the looks of one wait whose answer is not held, for each wait that there is: so all together ask 40 times a second at most. */
const PAUSE_MS = 25;

/** Whoever waits for people on one client: few connections, however many they are. */
export class Waits {
  readonly #held = new Places(HELD);
  readonly #brief = new Places(BRIEF);
  #waiting = 0;

  begin(): void {
    this.#waiting++;
  }

  end(): void {
    this.#waiting--;
  }

  /** How long a wait rests for which there was no place to be held. */
  get pauseMs(): number {
    return Math.random() * 2 * this.#waiting * PAUSE_MS;
  }

  /** @param seconds for which the answer is to be held, if there is a place; `look` is told for how many it is */
  async look<T>(seconds: number, deadline: Deadline, look: (seconds: number) => Promise<T>): Promise<T> {
    const isHeld = seconds > 0 && this.#held.tryTake();
    if (!isHeld) await this.#brief.take(deadline);
    try {
      return await look(isHeld ? seconds : 0);
    } finally {
      (isHeld ? this.#held : this.#brief).release();
    }
  }
}

/** So many at a time; the others in their turn. */
class Places {
  readonly #queue: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  tryTake(): boolean {
    return this.#free > 0 && this.#free-- > 0;
  }

  /** @throws CountersignError when the deadline ends first */
  async take(deadline: Deadline): Promise<void> {
    if (this.tryTake()) return;
    let go!: () => void;
    const turn = new Promise<void>((resolve) => (go = resolve));
    this.#queue.push(go);
    try {
      await deadline.race(turn);
    } catch (error) {
      const at = this.#queue.indexOf(go);
      // Its turn may have come in the same moment.
      if (at < 0) this.release();
      else this.#queue.splice(at, 1);
      throw error;
    }
  }

  release(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
