import type { Facts, FactsWanted } from './facts.js';

/** After this time facts are read again even if no revision was raised: an operator may have changed them with SQL. */
const KEPT_MS = 5_000;
const KEPT_AT_MOST = 20_000;

interface Kept {
  readonly facts: Facts;
  /** By a clock that never steps back. */
  readonly readAt: number;
}

/**
 * Facts as they were read last, so that a call need not read them again. This is no cache that anyone has to trust: a
 * decision counts only if the revisions it rested on are still the present ones under the commit's locks, and one that
 * rested on older facts is taken again from fresh ones. So they may only serve decisions that are committed.
 */
export class RecentFacts {
  private readonly kept = new Map<string, Kept>();

  /** The facts, with the database's clock moved on by the time since they were read. */
  find(wanted: FactsWanted): Facts | undefined {
    const kept = this.kept.get(keyOf(wanted));
    if (!kept) return undefined;
    const age = performance.now() - kept.readAt;
    if (age > KEPT_MS) return undefined;
    const now = new Date(kept.facts.now.getTime() + age);
    // Once the grant has expired another one may apply, and no revision is raised by the passing of time.
    const { expiresAt } = kept.facts.grant ?? {};
    return expiresAt && expiresAt <= now ? undefined : { ...kept.facts, now };
  }

  keep(wanted: FactsWanted, facts: Facts): void {
    const key = keyOf(wanted);
    this.kept.delete(key);
    // Every use changes what the next one rests on.
    // Which task a call does is looked up each time.
    if (facts.usage || facts.openTasks > 0) return;
    if (this.kept.size >= KEPT_AT_MOST) this.kept.delete(this.kept.keys().next().value!);
    // Whether an idempotency key was used is asked of the database each time.
    const { kept: _, ...lasting } = facts;
    this.kept.set(key, { facts: lasting, readAt: performance.now() });
  }

  forget(wanted: FactsWanted): void {
    this.kept.delete(keyOf(wanted));
  }
}

/** The capability last: it is the caller's word, and may be any text. */
function keyOf({ organizationId, agentId, agentKeyId, capability }: FactsWanted): string {
  return `${organizationId}/${agentId}/${agentKeyId ?? ''}/${capability}`;
}
