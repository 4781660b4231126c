import type { EffectKind } from './effects.js';
import type { OutboxRow } from './outbox-row.js';

/** Carries out an effect of a commit. Called again after a failure or a crash, so it must be idempotent. */
export interface EffectHandler {
  readonly kind: EffectKind;
  /** Whether it ends within a second, so that a dispatched effect need not be claimed for long. */
  readonly isBrief?: boolean;
  /** How many of the worker's slots it has at most: a slow peer keeps effects of other kinds waiting in none of the others. */
  readonly atOnce?: number;
  handle(row: OutboxRow): Promise<void>;
}

/** Carries out effects of its kind together, in one slot of its own. */
export interface EffectSetHandler {
  readonly kind: EffectKind;
  readonly setSize: number;
  handleSet(rows: readonly OutboxRow[]): Promise<void>;
}

/** Thrown by a handler for an effect that is not tried again: its row stays for an operator, and readiness counts it. */
export class Parked extends Error {
  constructor(because: string) {
    super(because);
    this.name = 'Parked';
  }
}
