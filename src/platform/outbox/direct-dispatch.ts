import type { Effect, EffectKind } from './effects.js';
import type { ReservedSlot, OutboxSignal } from './outbox-signal.js';
import { DIRECT_DISPATCH_SECONDS } from './outbox-row.js';

/** An effect's row as the commit that wrote it knows it. */
export interface WrittenEffect {
  readonly id: string;
  readonly createdAt: Date;
  /** Whether it is claimed by who wrote it. */
  readonly isHeld: boolean;
}

/** The effects of one commit, and the places that this process's worker keeps for some of them: it begins those without a claim. */
export class DirectDispatch {
  private constructor(
    private readonly effects: readonly Effect[],
    private places: readonly (ReservedSlot | undefined)[],
  ) {}

  static of(effects: readonly Effect[], bell: OutboxSignal): DirectDispatch {
    return new DirectDispatch(effects, effects.map(({ kind }) => bell.reserveSlot(kind)));
  }

  /** For each effect, for how many seconds it is written as claimed; 0: it is for whoever claims it first. */
  get held(): number[] {
    return this.places.map((place) => (place ? DIRECT_DISPATCH_SECONDS : 0));
  }

  /** Nothing was committed, or nobody knows. */
  giveUp(): void {
    const places = this.places;
    this.places = [];
    for (const place of places) place?.giveUp();
  }

  /**
   * They are committed.
   *
   * @param written in the effects' order; none where somebody's trigger kept one from being written
   * @returns the kinds of those that are for whoever claims them first
   */
  begin(written: readonly WrittenEffect[]): Set<EffectKind> {
    const places = this.places;
    this.places = [];
    const left = new Set<EffectKind>();
    this.effects.forEach((effect, i) => {
      const row = written.length === this.effects.length ? written[i] : undefined;
      if (row?.isHeld) places[i]?.start({ ...effect, id: row.id, createdAt: row.createdAt, attempts: 1 });
      else {
        places[i]?.giveUp();
        left.add(effect.kind);
      }
    });
    return left;
  }
}
