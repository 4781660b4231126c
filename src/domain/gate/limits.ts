import { createHash } from 'node:crypto';
import Big from 'big.js';
import { checkAmount, evaluateAmount, type ConditionFacts, type Position, spellingOf } from './conditions.js';
import { strictest, type HitlMode } from './vocabulary.js';

export const LIMITS_MAX = 10;
export const LIMIT_PERIODS = ['minute', 'hour', 'day', 'total'] as const;
export type LimitPeriod = (typeof LIMIT_PERIODS)[number];
export const LIMIT_MODES = ['propose', 'escalate', 'block'] as const;
export type LimitMode = (typeof LIMIT_MODES)[number];

/** A limit of a grant: how often, or with `sum` (CEL) for how much in total, before `then` applies. Windows slide. */
export interface Limit {
  readonly max: number;
  readonly per: LimitPeriod;
  readonly sum?: string;
  readonly then: LimitMode;
}

/** What one call adds to what is counted. `amount` is an exact decimal as text. */
export interface Use {
  readonly measure: string;
  readonly amount: string;
  /** The grant that counts it, where that is not the acting agent's: of another agent of a task's chain. */
  readonly grantId?: string;
}

/** What limits are compared with, apart from this call: for each limit, in its order, what is used up in its window. */
export type UsedUp = readonly string[];

/** Under which name uses are counted: the number of calls has none, a sum goes by its expression, however that is spaced. */
export function measureOf({ sum }: Limit): string {
  return sum === undefined ? '' : createHash('sha256').update(spellingOf(sum)).digest('hex');
}

/** A limit that a call goes past. */
export interface ReachedLimit extends Limit {
  /** Its place among the limits of the grant, from 1. */
  readonly number: number;
  /** Exact decimals: what is used up apart from the call, and what the call would add. */
  readonly used: string;
  readonly amount: string;
}

export interface LimitResult {
  /** Modes that now apply, each with its reason; the limit is absent where the call has no amount to compare. */
  readonly reached: readonly { readonly mode: LimitMode; readonly detail: string; readonly limit?: ReachedLimit }[];
  /** What the call adds if it begins or waits. */
  readonly uses: readonly Use[];
}

/** Above any amount that is meant, and far below where doubles cease to be whole numbers. */
export const LIMIT_MAX = 1e15;

export type LimitCheck =
  | { readonly ok: true }
  | { readonly ok: false; readonly member: 'max' | 'sum'; readonly message: string; readonly position?: Position };

/** Whether a limit may be stored: a whole number of calls, or a sum that is CEL and can be a number. */
export function checkLimit({ max, sum }: Limit): LimitCheck {
  if (!(max >= 0 && max <= LIMIT_MAX)) return { ok: false, member: 'max', message: `must be a number from 0 to ${LIMIT_MAX}` };
  if (sum === undefined) {
    return Number.isInteger(max) ? { ok: true } : { ok: false, member: 'max', message: 'must be a whole number where calls are counted' };
  }
  const check = checkAmount(sum);
  return check.ok ? check : { ...check, member: 'sum' };
}

/**
 * Compares a call with the limits of its grant. Exact: amounts are decimals, never added as doubles. A `sum` that is not a
 * finite number of at least 0 applies the strictest `then` of the grant's limits and adds nothing. A limit whose use is not
 * known counts as used up.
 *
 * @param used for each limit, in its order, what is used up in its window, apart from this call
 */
export function compareLimits(limits: readonly Limit[], used: UsedUp, facts: ConditionFacts): LimitResult {
  const reached: { mode: LimitMode; detail: string; limit?: ReachedLimit }[] = [];
  const uses = new Map<string, string>();
  limits.forEach((limit, index) => {
    const measure = measureOf(limit);
    const amount = limit.sum === undefined ? '1' : amountOf(limit.sum, facts);
    if (amount === undefined) {
      const then = strictestOf(limits);
      reached.push({ mode: then, detail: `The sum of limit ${index + 1} is no amount for this call, so ${then} applies.` });
      return;
    }
    uses.set(measure, amount);
    const before = used[index];
    if (before !== undefined && new Big(before).plus(amount).lte(limit.max)) return;
    const what = limit.sum === undefined ? `${limit.max} calls` : `a sum of ${limit.max}`;
    const window = limit.per === 'total' ? 'in total' : `per ${limit.per}`;
    reached.push({
      mode: limit.then,
      detail: `Limit ${index + 1} (${what} ${window}) is used up, so ${limit.then} applies.`,
      ...(before === undefined ? {} : { limit: { ...limit, number: index + 1, used: before, amount } }),
    });
  });
  return { reached, uses: [...uses].map(([measure, amount]) => ({ measure, amount })) };
}

/** What is left of a limit: never less than nothing. */
export function leftOf({ max }: Limit, used: string): number {
  const left = new Big(max).minus(used);
  return left.gt(0) ? left.toNumber() : 0;
}

/** Sums of amounts that were counted, for calls decided together. */
export function addAmounts(a: string, b: string): string {
  return new Big(a).plus(b).toFixed();
}

function amountOf(sum: string, facts: ConditionFacts): string | undefined {
  const amount = evaluateAmount(sum, facts);
  return amount === undefined ? undefined : new Big(amount).toFixed();
}

function strictestOf(limits: readonly Limit[]): LimitMode {
  const [first, ...others] = limits.map((limit) => limit.then as HitlMode);
  return strictest(first!, ...others) as LimitMode;
}
