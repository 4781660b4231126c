import { Injectable } from '@nestjs/common';

/** How many calls of one principal a server holds at a time, held answers and event streams together. */
export const SLOTS_PER_PRINCIPAL = 64;

/** Counts the calls that are held here, by principal. */
@Injectable()
export class WaiterSlots {
  private readonly taken = new Map<string, number>();
  private sum = 0;

  get all(): number {
    return this.sum;
  }

  /** @returns how to give it back, once; undefined when the principal has all that it may have */
  take(actorId: string): (() => void) | undefined {
    const held = this.taken.get(actorId) ?? 0;
    if (held >= SLOTS_PER_PRINCIPAL) return undefined;
    this.taken.set(actorId, held + 1);
    this.sum++;
    return () => this.giveBack(actorId);
  }

  private giveBack(actorId: string): void {
    this.sum--;
    const left = this.taken.get(actorId)! - 1;
    if (left > 0) this.taken.set(actorId, left);
    else this.taken.delete(actorId);
  }
}
