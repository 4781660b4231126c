import { type Condition, conditionTime, type ConditionFacts, lastConditionWork } from '../../gate/conditions.js';
import type { HitlMode } from '../../gate/vocabulary.js';
import type { Effort } from './effort.js';
import type { GrantView } from './grant-view.js';
import { type CallLeft, type ErasedCall, leftOfCall, type Outcome, outcomeOf } from './unsure-conditions.js';

/** Reading one anew, and asking it, beside what its evaluation takes. */
const READING = 10_000;
const ASKING = 500;

/** How the conditions of a grant hang on the time of a call. */
export interface TimeTerms {
  readonly isOfTime: boolean;
  /** Modes of those that hang on the very second: whether these held, nobody can tell any more. */
  readonly bySecond: readonly HitlMode[];
}

const OF_NONE: TimeTerms = { isOfTime: false, bySecond: [] };
const timeTerms = new WeakMap<GrantView, TimeTerms>();

/** The same for all calls under a grant: it is asked once. */
export function timeTermsOf(grant: GrantView | undefined): TimeTerms {
  if (!grant || grant.facts.conditions.length === 0) return OF_NONE;
  let terms = timeTerms.get(grant);
  if (!terms) {
    const { conditions } = grant.facts;
    const isOfTime = conditions.some(({ when }) => conditionTime(when) === 'in steps');
    terms = { isOfTime, bySecond: [...new Set(conditions.filter(isBySecond).map(({ hitlMode }) => hitlMode))] };
    timeTerms.set(grant, terms);
  }
  return terms;
}

export const isBySecond = ({ when }: Condition): boolean => conditionTime(when) === 'finely';

/** Conditions over one call: each is evaluated once for what it can depend on, in however many worlds it is asked. */
export class AskedConditions {
  private readonly known = new Map<string, Map<string, Outcome>>();
  private left: CallLeft | undefined;

  /** @param call without time and agent, which may differ */
  constructor(
    private readonly call: Omit<ConditionFacts, 'now' | 'agent'>,
    private readonly erased: ErasedCall,
    private readonly effort: Effort,
  ) {}

  outcome({ when }: Condition, agent: ConditionFacts['agent'], now: number): Outcome {
    const time = conditionTime(when) === 'not' ? 0 : now;
    const under = `${time} ${agent.riskLevel}`;
    let outcomes = this.known.get(when);
    if (!outcomes) {
      outcomes = new Map<string, Outcome>();
      this.known.set(when, outcomes);
      this.effort.add(READING);
    }
    const known = outcomes.get(under);
    if (known) return known;
    this.left ??= leftOfCall(this.call, this.erased);
    const outcome = outcomeOf(when, { ...this.call, agent, now: new Date(now) }, this.erased, this.left);
    this.effort.add(ASKING + lastConditionWork());
    outcomes.set(under, outcome);
    return outcome;
  }
}
