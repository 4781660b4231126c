import { Injectable } from '@nestjs/common';
import type { EffectKind } from './effects.js';
import type { OutboxRow } from './outbox-row.js';

/** A slot of this process's worker for an effect that is about to be committed as claimed. One of the two methods is called, once. */
export interface ReservedSlot {
  start(row: OutboxRow): void;
  giveUp(): void;
}

export interface OutboxListener {
  /** A commit left effects of these kinds in the outbox. */
  notify(kinds: ReadonlySet<EffectKind>): void;
  /** @returns undefined where a worker has to claim the effect: no slot is free, others wait already, its handler is slow or missing */
  reserveSlot(kind: EffectKind): ReservedSlot | undefined;
}

/** Connects commits of effects with this process's worker, so that the worker neither waits for its next poll nor queries for them. */
@Injectable()
export class OutboxSignal {
  private listener: OutboxListener | undefined;

  listen(listener: OutboxListener): void {
    this.listener = listener;
  }

  notify(kinds: ReadonlySet<EffectKind>): void {
    this.listener?.notify(kinds);
  }

  reserveSlot(kind: EffectKind): ReservedSlot | undefined {
    return this.listener?.reserveSlot(kind);
  }
}
