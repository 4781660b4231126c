import type { EffectKind } from './effects.js';
import type { OutboxRow } from './outbox-row.js';

/** How much of what a loop may take, right now. */
export interface Room {
  /** Kinds of effects, and how many rows of each. */
  readonly kinds: ReadonlyMap<EffectKind, number>;
  /** Of all kinds together. */
  readonly total: number;
}

export interface ClaimLoopParts {
  /** What there is room for; empty where nothing may be taken. */
  room(): Room;
  claim(room: Room): Promise<readonly OutboxRow[]>;
  start(rows: readonly OutboxRow[]): void;
}

/** Claims rows while there is room for them and more may wait. One claim at a time: two would race for the same rows. */
export class ClaimLoop {
  private claiming: Promise<void> | undefined;
  /** Kinds of which more may wait than the last claim took. */
  private readonly mayBeMore = new Set<EffectKind>();

  constructor(private readonly parts: ClaimLoopParts) {}

  /** Whether nothing is known to wait, and no claim runs. */
  get isIdle(): boolean {
    return this.mayBeMore.size === 0 && this.claiming === undefined;
  }

  /** Effects of these kinds were committed, or may have been. */
  look(kinds: Iterable<EffectKind>): void {
    for (const kind of kinds) this.mayBeMore.add(kind);
    this.fill();
  }

  /** There may be room again. */
  fill(): void {
    if (this.claiming || this.mayBeMore.size === 0) return;
    const { kinds, total } = this.parts.room();
    const wanted = new Map([...kinds].filter(([kind, room]) => room > 0 && this.mayBeMore.has(kind)));
    if (total <= 0 || wanted.size === 0) return;
    for (const kind of wanted.keys()) this.mayBeMore.delete(kind);
    this.claiming = this.claim({ kinds: wanted, total }).finally(() => {
      this.claiming = undefined;
      this.fill();
    });
  }

  async ended(): Promise<void> {
    await this.claiming;
  }

  private async claim(room: Room): Promise<void> {
    const rows = await this.parts.claim(room);
    for (const [kind, most] of room.kinds) {
      const taken = rows.filter((row) => row.kind === kind).length;
      if (taken === most || rows.length === room.total) this.mayBeMore.add(kind);
    }
    if (rows.length > 0) this.parts.start(rows);
  }
}
