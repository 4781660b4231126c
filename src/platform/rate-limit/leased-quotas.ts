/** What a source grants of a subject's quota in the present window. */
export interface QuotaLease {
  /** 0: nothing is left in this window. */
  readonly granted: number;
  /** What all replicas together have leased in it, this grant included. */
  readonly taken: number;
  /** Milliseconds until the window ends, by the source's clock at the time of its answer. */
  readonly endsInMs: number;
}

/** Where replicas lease from: one count for each subject, shared by all of them. */
export interface QuotaSource {
  /** Grants up to `wanted` of what is left of `limit`. A window begins with the first lease after the last one ended. */
  lease(subject: string, limit: number, wanted: number, windowSeconds: number): Promise<QuotaLease>;
}

export interface QuotaAnswer {
  readonly allowed: boolean;
  /** Calls that are left in the window, as far as this replica knows. */
  readonly remaining: number;
  readonly endsInMs: number;
}

export interface QuotaTerms {
  /** Calls in a window, 1 or more. */
  readonly limit: number;
  readonly windowSeconds: number;
  /** How many subjects are kept. A subject that is dropped leases anew, and the rest of its old lease is lost. */
  readonly capacity: number;
  /** Called for each lease that could not be had. */
  readonly onAway?: (error: unknown) => void;
  /** A clock that only goes forward, in milliseconds. */
  readonly now?: () => number;
}

interface Lease {
  left: number;
  taken: number;
  /** Never later than the end of the source's window. */
  endsAt: number;
  coming?: Promise<boolean>;
  /** Until when its subject leases nothing, because its last lease was late. */
  awayUntil: number;
}

const CHUNKS = 20;
/** How long a call waits for a lease. */
const PATIENCE_MS = 2_000;
/** After a failure no lease is asked for during this time: a database that is away must not delay each call. */
const AWAY_MS = 250;
const AWAY = Promise.resolve(false);
/** One late lease may mean that its subject's row is locked; late leases of so many subjects in a row, that the source is away. */
const LATE_SUBJECTS = 3;

class LateLease extends Error {
  constructor() {
    super('no lease within two seconds');
  }
}

/**
 * Counts calls of subjects against a limit that all replicas share, without a write for each call: a replica leases a
 * twentieth of the quota at a time, counts it down in memory, and asks for the next when half is used, so that calls
 * do not wait. What one replica has leased and not used no other can use: that makes the limit tighter, never looser.
 * Whether a call passes that cannot be counted, because the source is away, the caller decides.
 */
export class LeasedQuotas {
  // In the order in which their windows began, so that the first is the one to forget.
  private readonly leases = new Map<string, Lease>();
  private readonly chunk: number;
  private readonly ahead: number;
  private readonly now: () => number;
  private awayUntil = -Infinity;
  /** Why the last lease that could not be had was not. */
  awayBecause: unknown;
  /** Whose leases were late since the last one that came in time; LATE_SUBJECTS at most. */
  private readonly late = new Set<string>();

  constructor(
    private readonly source: QuotaSource,
    private readonly terms: QuotaTerms,
  ) {
    this.chunk = Math.ceil(terms.limit / CHUNKS);
    this.ahead = Math.floor(this.chunk / 2);
    this.now = terms.now ?? (() => performance.now());
  }

  /** Takes one call of the subject's quota, at once where a lease is at hand; undefined when nobody can say if one is left. */
  take(subject: string): QuotaAnswer | Promise<QuotaAnswer | undefined> {
    const lease = this.leases.get(subject) ?? this.begin(subject);
    return this.spend(subject, lease) ?? this.wait(subject, lease);
  }

  /** Whether it is known here that nothing of the subject's quota is left in the present window. */
  isSpent(subject: string): boolean {
    const lease = this.leases.get(subject);
    return lease !== undefined && lease.left === 0 && lease.taken >= this.terms.limit && lease.endsAt > this.now();
  }

  private begin(subject: string): Lease {
    const lease: Lease = { left: 0, taken: 0, endsAt: -Infinity, awayUntil: -Infinity };
    this.keep(subject, lease);
    return lease;
  }

  private keep(subject: string, lease: Lease): void {
    this.leases.delete(subject);
    if (this.leases.size >= this.terms.capacity) this.leases.delete(this.leases.keys().next().value!);
    this.leases.set(subject, lease);
  }

  private spend(subject: string, lease: Lease): QuotaAnswer | undefined {
    const endsInMs = lease.endsAt - this.now();
    if (endsInMs <= 0) return undefined;
    const { limit } = this.terms;
    if (lease.left > 0) {
      lease.left--;
      if (lease.left <= this.ahead && lease.taken < limit) void this.refill(subject, lease);
      return { allowed: true, remaining: Math.max(0, limit - lease.taken) + lease.left, endsInMs };
    }
    return lease.taken >= limit ? { allowed: false, remaining: 0, endsInMs } : undefined;
  }

  private async wait(subject: string, lease: Lease): Promise<QuotaAnswer | undefined> {
    const until = this.now() + PATIENCE_MS;
    do {
      if (!(await this.refill(subject, lease))) return undefined;
      const answer = this.spend(subject, lease);
      if (answer !== undefined) return answer;
      // Others who waited have used this chunk up, or its window ended on the way here.
    } while (this.now() < until);
    return undefined;
  }

  /** False when the lease could not be had. Never throws. */
  private refill(subject: string, lease: Lease): Promise<boolean> {
    if (lease.coming !== undefined) return lease.coming;
    if (this.now() < Math.max(this.awayUntil, lease.awayUntil)) return AWAY;
    const coming = this.lease(subject, lease).finally(() => (lease.coming = undefined));
    lease.coming = coming;
    return coming;
  }

  private async lease(subject: string, lease: Lease): Promise<boolean> {
    const asked = this.now();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new LateLease()), PATIENCE_MS).unref();
    });
    try {
      const { limit, windowSeconds } = this.terms;
      const granting = this.source.lease(subject, limit, this.chunk, windowSeconds);
      await Promise.race([granting.then((grant) => this.add(subject, lease, asked, grant)), late]);
      this.late.clear();
      return true;
    } catch (error) {
      this.awayBecause = error;
      this.holdBack(subject, lease, error);
      this.terms.onAway?.(error);
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Its own subject, if its lease was only late; everybody, if the source failed or is late for everybody. */
  private holdBack(subject: string, lease: Lease, error: unknown): void {
    const until = this.now() + AWAY_MS;
    if (error instanceof LateLease) {
      lease.awayUntil = until;
      if (this.late.size < LATE_SUBJECTS) this.late.add(subject);
      if (this.late.size < LATE_SUBJECTS) return;
    }
    this.awayUntil = until;
  }

  private add(subject: string, lease: Lease, asked: number, { granted, taken, endsInMs }: QuotaLease): void {
    const now = this.now();
    // Less taken than before: the source's window is another one, whatever our clock says.
    if (lease.endsAt <= now || taken < lease.taken) {
      lease.left = 0;
      lease.endsAt = -Infinity;
      if (this.leases.get(subject) === lease) this.keep(subject, lease);
    }
    lease.taken = taken;
    // Counted from when we asked, it ends with the source's window or before: a call is never let through on a spent one.
    const endsAt = asked + endsInMs;
    if (endsAt <= now) return;
    lease.left += granted;
    lease.endsAt = Math.max(lease.endsAt, endsAt);
  }
}
