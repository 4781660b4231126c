import { createHash } from 'node:crypto';

/** Numbers that a seed determines. A smaller scale keeps all choices near the beginning of what there is to choose from. */
export class Random {
  private state: number;

  constructor(
    seed: string,
    private readonly scale = 1,
  ) {
    this.state = createHash('sha256').update(seed).digest().readUInt32LE(0);
  }

  /** From 0 to below 1 (mulberry32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(count: number): number {
    return Math.floor(this.next() * count * this.scale);
  }

  of<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  /** Two different ones. */
  two<T>(choices: readonly T[]): [T, T] {
    const one = this.below(choices.length);
    const other = (one + 1 + this.below(choices.length - 1)) % choices.length;
    return [choices[one]!, choices[other]!];
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  text(length: number, letters = 'abcdefghijklmnopqrstuvwxyz0123456789'): string {
    return Array.from({ length }, () => letters[Math.floor(this.next() * letters.length)]).join('');
  }
}
