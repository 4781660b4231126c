/**
 * How far replicas' clocks may be apart, and how long a commit may take, in milliseconds: of two entries in different chains whose times
 * are within it, either may have been committed first.
 */
export const OVERLAP_MS = 10_000;

/** Times between which something was committed; both ends in milliseconds. */
export interface Moment {
  readonly from: number;
  readonly to: number;
  /** Its stamp, and how far its organization's own chain had come: what that tells was so by this order, and not by clocks. */
  readonly order?: { readonly at: number; readonly ownBefore: number };
}

/** Where an entry stands in its chain, and when it was made. */
export interface Point {
  readonly seq: number;
  readonly at: number;
}

export function around(at: number): Moment {
  return { from: at - OVERLAP_MS, to: at + OVERLAP_MS };
}

/** Between which times something holds that the organization's own chain tells. */
export function spanOf(moment: Moment): Moment {
  return moment.order ? around(moment.order.at) : moment;
}

/** When an entry of the organization's own chain was made, seen from the moment: not after it where it was committed before. */
export function timeOf({ seq, at }: Point, { order }: Moment): number {
  if (!order) return at;
  return seq <= order.ownBefore ? Math.min(at, order.at) : Math.max(at, order.at);
}

/** What something was, from when on. Told in the order of one chain. */
export class Timeline<Value> {
  private readonly changes: { readonly point: Point; readonly value: Value }[] = [];

  /** @param before what it was before it was first told */
  constructor(private readonly before: Value) {}

  set({ seq, at }: Point, value: Value): void {
    this.changes.push({ point: { seq, at }, value });
  }

  get last(): Value {
    return this.changes.at(-1)?.value ?? this.before;
  }

  /** Everything that it may have been at a moment, the likeliest first. */
  during(moment: Moment): Value[] {
    const { from, to } = spanOf(moment);
    const found: Value[] = [];
    for (let i = -1; i < this.changes.length; i++) {
      const begins = i < 0 ? -Infinity : timeOf(this.changes[i]!.point, moment);
      const next = this.changes[i + 1];
      const ends = next ? timeOf(next.point, moment) : Infinity;
      if (begins <= to && ends >= from) found.push(i < 0 ? this.before : this.changes[i]!.value);
    }
    return found.reverse();
  }
}
