import {
  type Condition, conditionTime, type ConditionFacts, lastConditionWork, timeComparisons,
} from '../../../gate/conditions.js';
import type { TimeReading } from '../../../gate/condition-times.js';
import type { Effort } from './effort.js';
import { type CallLeft, type ErasedCall, leftOfCall, type Outcome, outcomeOf } from './unsure-conditions.js';

/** Reading one anew, and asking it, beside what its evaluation takes. */
const READING = 10_000;
const ASKING = 500;

/** What comparisons with the time of a call read nothing of. */
const NOBODY: ConditionFacts['agent'] = { id: '', riskLevel: '', tags: [] };

/** Conditions over one call: each is read once, and evaluated once for what it can depend on, in however many worlds it is asked. */
export class AskedConditions {
  private readonly known = new Map<string, Map<string, Outcome>>();
  private whatIsLeft: CallLeft | undefined;

  /** @param call without time and agent, which may differ */
  constructor(
    private readonly call: Omit<ConditionFacts, 'now' | 'agent'>,
    private readonly erased: ErasedCall,
    private readonly effort: Effort,
  ) {}

  time({ when }: Condition): TimeReading {
    this.outcomesOf(when);
    return conditionTime(when);
  }

  outcome({ when }: Condition, agent: ConditionFacts['agent'], now: number): Outcome {
    const outcomes = this.outcomesOf(when);
    const time = conditionTime(when) === 'not' ? 0 : now;
    const under = `${time} ${agent.riskLevel}`;
    const known = outcomes.get(under);
    if (known) return known;
    const outcome = outcomeOf(when, { ...this.call, agent, now: new Date(now) }, this.erased, this.left);
    this.effort.add(ASKING + lastConditionWork());
    outcomes.set(under, outcome);
    return outcome;
  }

  /** Times after the first, up to the last, at which a comparison with the time of the call turns. Where effort is spent, not all. */
  turns({ when }: Condition, first: number, last: number): number[] {
    this.outcomesOf(when);
    const turns: number[] = [];
    for (const compare of timeComparisons(when)) {
      if (this.effort.isSpent) break;
      const at = (now: number) => {
        const answer = compare({ ...this.call, ...this.left, agent: NOBODY, now: new Date(now) });
        this.effort.add(ASKING + lastConditionWork());
        return answer;
      };
      const turn = turnOf(at, first, last);
      if (turn !== undefined) turns.push(turn);
    }
    return turns;
  }

  private outcomesOf(when: string): Map<string, Outcome> {
    let outcomes = this.known.get(when);
    if (!outcomes) {
      outcomes = new Map<string, Outcome>();
      this.known.set(when, outcomes);
      this.effort.add(READING);
    }
    return outcomes;
  }

  private get left(): CallLeft {
    return (this.whatIsLeft ??= leftOfCall(this.call, this.erased));
  }
}

/** The first time at which something that turns once at most is not as it was at first. */
function turnOf<Answer>(at: (now: number) => Answer, first: number, last: number): number | undefined {
  const answer = at(first);
  if (first >= last || at(last) === answer) return undefined;
  let [before, after] = [first, last];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (at(middle) === answer) before = middle;
    else after = middle;
  }
  return after;
}
