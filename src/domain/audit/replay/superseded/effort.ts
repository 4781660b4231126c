import { CONDITION_WORK_MAX, CONDITIONS_MAX } from '../../../gate/conditions.js';

/**
 * Three times what the conditions of one grant may take when the gate is asked, in units of about 100 ns: enough to ask them all before and
 * after a full minute. A verification that is asked for more than about a third of a second by one entry asks no further.
 */
const EFFORT_MAX = 3 * CONDITIONS_MAX * CONDITION_WORK_MAX;

/** What it takes to make one decision again. Counted and not timed, so that the same log gets the same answer everywhere. */
export class Effort {
  private count = 0;

  get spent(): number {
    return this.count;
  }

  get isSpent(): boolean {
    return this.count > EFFORT_MAX;
  }

  add(units: number): void {
    this.count += units;
  }
}
