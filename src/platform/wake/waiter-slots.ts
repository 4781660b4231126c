import { Injectable } from '@nestjs/common';

/** How many delayed answers and event streams, together, one principal may have on a server at a time. */
export const SLOTS_PER_PRINCIPAL = 64;

/** Counts delayed answers and event streams by principal. */
@Injectable()
export class WaiterSlots {
  private readonly taken = new Map<string, number>();
  private sum = 0;

  get all(): number {
    return this.sum;
  }

  /** @returns a function that frees the slot, to be called once; undefined when the principal has no free slot */
  take(actorId: string): (() => void) | undefined {
    const taken = this.taken.get(actorId) ?? 0;
    if (taken >= SLOTS_PER_PRINCIPAL) return undefined;
    this.taken.set(actorId, taken + 1);
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
