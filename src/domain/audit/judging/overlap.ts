/**
 * How far replicas' clocks may be apart, and how long a commit may take, in milliseconds: of two entries in different chains whose times
 * are within it, either may have been committed first.
 */
export const OVERLAP_MS = 10_000;

/** Times between which something was committed; both ends in milliseconds. */
export interface Moment {
  readonly from: number;
  readonly to: number;
}

export function around(at: number): Moment {
  return { from: at - OVERLAP_MS, to: at + OVERLAP_MS };
}

/** What something was, from when on. Told in the order of one chain. */
export class Timeline<Value> {
  private readonly changes: { readonly at: number; readonly value: Value }[] = [];

  /** @param before what it was before it was first told */
  constructor(private readonly before: Value) {}

  set(at: number, value: Value): void {
    this.changes.push({ at, value });
  }

  get last(): Value {
    return this.changes.at(-1)?.value ?? this.before;
  }

  /** Everything that it may have been at a moment, the likeliest first. */
  during({ from, to }: Moment): Value[] {
    const found: Value[] = [];
    for (let i = -1; i < this.changes.length; i++) {
      const begins = i < 0 ? -Infinity : this.changes[i]!.at;
      const ends = this.changes[i + 1]?.at ?? Infinity;
      if (begins <= to && ends >= from) found.push(i < 0 ? this.before : this.changes[i]!.value);
    }
    return found.reverse();
  }
}
