import { conditionReads, evaluateCondition, type ConditionFacts } from '../../../gate/conditions.js';
import { isJsonObject, type JsonValue } from '../../../json.js';
import type { Blanks } from '../../entry/open-entry.js';

/** What of a call is erased. */
export interface ErasedCall {
  readonly input: Blanks | undefined;
  readonly context: Blanks | undefined;
  /** Tags of the agent are erased, or unknown. */
  readonly tags: boolean;
}

export type CallLeft = Pick<ConditionFacts, 'input' | 'context'>;

/** What came of a condition; `unsure`: nobody can tell any more. */
export type Outcome = 'holds' | 'does_not_hold' | 'unsure';

/**
 * What came of a condition, as far as anybody can tell: nobody can where it reads something that is erased, and does not hold for whatever
 * that was. That it holds without it is sure where what it reads is only used: of a member that is missing there is no value, and where
 * the condition answers all the same, that value does not matter. One that cannot be evaluated holds, as the gate takes it.
 *
 * @param left of the call, without what is erased
 */
export function outcomeOf(when: string, facts: ConditionFacts, erased: ErasedCall, left: CallLeft): Outcome {
  const { input, context } = facts;
  const touched = isNothingErased(erased) ? [] : (conditionReads(when) ?? []).filter(({ variable, member }) => {
    if (variable === 'input') return isGone(member, input, erased.input);
    if (variable === 'context') return isGone(member, context, erased.context);
    return variable === 'agent' && erased.tags && (member === undefined || member === 'tags');
  });
  if (touched.length === 0) return evaluateCondition(when, facts) === 'does_not_hold' ? 'does_not_hold' : 'holds';
  if (touched.some(({ variable, isPlain }) => !isPlain || variable === 'agent')) return 'unsure';
  return evaluateCondition(when, { ...facts, ...left }) === 'holds' ? 'holds' : 'unsure';
}

/** The call without what of it is erased. */
export function leftOfCall({ input, context }: CallLeft, erased: Pick<ErasedCall, 'input' | 'context'>): CallLeft {
  return { input: leftOf(input, erased.input), ...(context ? { context: leftOf(context, erased.context) } : {}) };
}

function isNothingErased({ input, context, tags }: ErasedCall): boolean {
  return !input && !context && !tags;
}

/** One whose name nobody knows may have been any that is not there. */
function isGone(member: string | undefined, value: object | undefined, blanks: Blanks | undefined): boolean {
  if (!blanks) return false;
  if (member === undefined || blanks.isWhole || blanks.names.has(member)) return true;
  return blanks.nameless.has(member) || (blanks.nameless.size > 0 && (value === undefined || !Object.hasOwn(value, member)));
}

function leftOf(value: ConditionFacts['input'], blanks: Blanks | undefined): ConditionFacts['input'] {
  if (!blanks) return value;
  if (blanks.isWhole) return {};
  const isLeft = ([name]: [string, JsonValue]) => !blanks.names.has(name) && !blanks.nameless.has(name);
  return isJsonObject(value) ? Object.fromEntries(Object.entries(value).filter(isLeft)) : {};
}
