import type { Effect, EffectKind } from './effects.js';
import type { ReservedSlot, OutboxSignal } from './outbox-signal.js';
import { DIRECT_DISPATCH_SECONDS } from './outbox-row.js';

/** An effect's row as the commit that wrote it knows it. */
export interface WrittenEffect {
  readonly id: string;
  readonly createdAt: Date;
  /** Whether the row was written as claimed, by the server that wrote it. */
  readonly isClaimed: boolean;
}

/** The effects of one commit, and the slots that this process's worker reserves for some of them: it begins those without a claim. */
export class DirectDispatch {
  private constructor(
    private readonly effects: readonly Effect[],
    private slots: readonly (ReservedSlot | undefined)[],
  ) {}

  static of(effects: readonly Effect[], signal: OutboxSignal): DirectDispatch {
    return new DirectDispatch(effects, effects.map(({ kind }) => signal.reserveSlot(kind)));
  }

  /** For each effect, for how many seconds its row is written as claimed; 0: the first worker that claims it gets it. */
  get claimSeconds(): number[] {
    return this.slots.map((slot) => (slot ? DIRECT_DISPATCH_SECONDS : 0));
  }

  /** Frees the slots: nothing was committed, or the outcome is unknown. */
  giveUp(): void {
    const slots = this.slots;
    this.slots = [];
    for (const slot of slots) slot?.giveUp();
  }

  /**
   * Begins the committed effects that have a slot.
   *
   * @param written rows in the effects' order; empty where a trigger suppressed one of them
   * @returns the kinds of the effects that a worker has to claim
   */
  begin(written: readonly WrittenEffect[]): Set<EffectKind> {
    const slots = this.slots;
    this.slots = [];
    const left = new Set<EffectKind>();
    this.effects.forEach((effect, i) => {
      const row = written.length === this.effects.length ? written[i] : undefined;
      if (row?.isClaimed) slots[i]?.start({ ...effect, id: row.id, createdAt: row.createdAt, attempts: 1 });
      else {
        slots[i]?.giveUp();
        left.add(effect.kind);
      }
    });
    return left;
  }
}
