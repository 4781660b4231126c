import { partitionPoint } from '../../../collections.js';

/** A fact over the positions of a chain: its values, each from a position on. */
export class Versioned<Value> {
  private readonly positions: number[] = [];
  private readonly values: Value[] = [];

  /** In the order of the chain. */
  set(position: number, value: Value): void {
    this.positions.push(position);
    this.values.push(value);
  }

  /** The value at a position; undefined before the first. */
  at(position: number): Value | undefined {
    return this.values[countUpTo(this.positions, position) - 1];
  }

  get last(): Value | undefined {
    return this.values.at(-1);
  }

  /** The value at one position, and those set since then up to another. */
  during(from: number, to: number): Value[] {
    return this.values.slice(Math.max(0, countUpTo(this.positions, from) - 1), countUpTo(this.positions, to));
  }
}

/** How many of rising numbers are not above the most. */
export function countUpTo(rising: readonly number[], most: number): number {
  return partitionPoint(rising, (one) => one <= most);
}
