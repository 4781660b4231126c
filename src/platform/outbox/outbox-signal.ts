import { Injectable } from '@nestjs/common';
import type { EffectKind } from './effects.js';
import type { OutboxRow } from './outbox-row.js';

/** A place in this process's worker, kept for an effect that is about to be committed as claimed already. One of both is called. */
export interface ReservedSlot {
  start(row: OutboxRow): void;
  giveUp(): void;
}

export interface OutboxListener {
  /** A commit left effects of these kinds in the outbox. */
  ring(kinds: ReadonlySet<EffectKind>): void;
  /** @returns undefined where it is left to whoever claims it: no place is free, others were first, it takes long, nobody handles it */
  keepPlace(kind: EffectKind): ReservedSlot | undefined;
}

/** Between those who commit effects and this process's worker: it need neither wait for its next look nor ask for what it is handed. */
@Injectable()
export class OutboxSignal {
  private listener: OutboxListener | undefined;

  listen(listener: OutboxListener): void {
    this.listener = listener;
  }

  notify(kinds: ReadonlySet<EffectKind>): void {
    this.listener?.ring(kinds);
  }

  reserveSlot(kind: EffectKind): ReservedSlot | undefined {
    return this.listener?.keepPlace(kind);
  }
}
