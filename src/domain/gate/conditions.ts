import { isCelError, isCelUint, parse, plan, type CelInput, unparse } from '@bufbuild/cel';
import type { JsonObject, JsonValue } from '../json.js';
import { BoundedCache } from './bounded-cache.js';
import { checkTree, ConditionProblem, type Ast } from './condition-check.js';
import { conditionEnvironment, LimitReached, openAccount } from './condition-environment.js';
import type { HitlMode } from './vocabulary.js';

export const CONDITION_LENGTH_MAX = 1_000;
export const CONDITIONS_MAX = 20;

/** A condition of a grant: when `when` holds, the call's mode is at least `hitlMode`. */
export interface Condition {
  readonly when: string;
  readonly hitlMode: HitlMode;
  readonly reason?: string;
}

/** What a condition can read. */
export interface ConditionFacts {
  readonly input: JsonObject;
  /** Absent is an empty object. */
  readonly context?: JsonObject;
  readonly agent: { readonly id: string; readonly riskLevel: string; readonly tags: readonly string[] };
  readonly capability: string;
  readonly now: Date;
}

/** `offset` counts UTF-16 units from 0; `line` and `column` count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
  readonly offset: number;
}

export type ConditionCheck =
  | { readonly ok: true }
  | { readonly ok: false; readonly position: Position; readonly message: string };
export type ConditionResult = 'holds' | 'does_not_hold' | { readonly cannot: string };

type Run = (facts: Record<string, CelInput>) => unknown;

interface PlannedWell {
  readonly ok: true;
  readonly run: Run;
  readonly readsNow: boolean;
  readonly ast: Ast;
  readonly spelling: string;
}

type Planned =
  | PlannedWell
  | { readonly ok: false; readonly position: Position; readonly message: string };

const plans = new BoundedCache<string, Planned>(2_000);

/**
 * Whether a condition may be stored: CEL of at most 1,000 characters over `input`, `context`, `agent`, `capability`
 * and `now`, with at most two macros, none inside another, and literal RE2 patterns.
 */
export function checkCondition(source: string): ConditionCheck {
  const planned = planOf(source, 'boolean');
  return planned.ok ? { ok: true } : { ok: false, position: planned.position, message: planned.message };
}

/**
 * Whether a condition holds for a call. Never throws and never runs for more than some milliseconds: a condition that
 * cannot be evaluated says why, without repeating a value, and the caller treats it as if it held.
 */
export function evaluateCondition(source: string, facts: ConditionFacts): ConditionResult {
  const planned = planOf(source, 'boolean');
  if (!planned.ok) return { cannot: 'it is not a valid condition' };
  const answer = answerOf(planned, facts);
  if (typeof answer === 'boolean') return answer ? 'holds' : 'does_not_hold';
  if (isCelError(answer)) return { cannot: whyNot(answer, planned.ast, source) };
  return { cannot: 'it did not answer true or false' };
}

/** Whether an expression may be stored as the `sum` of a limit: like a condition, but one that answers a number. */
export function checkAmount(source: string): ConditionCheck {
  const planned = planOf(source, 'amount');
  return planned.ok ? { ok: true } : { ok: false, position: planned.position, message: planned.message };
}

/**
 * The amount that an expression gives for a call, as decimal text: a finite number of at least 0, else undefined. Doubles
 * are taken at their shortest spelling, so that 0.1 is a tenth.
 */
export function evaluateAmount(source: string, facts: ConditionFacts): string | undefined {
  const planned = planOf(source, 'amount');
  if (!planned.ok) return undefined;
  const answer = answerOf(planned, facts);
  const number = typeof answer === 'bigint' || typeof answer === 'number' ? answer : isCelUint(answer) ? answer.value : undefined;
  if (number === undefined || number < 0 || (typeof number === 'number' && !Number.isFinite(number))) return undefined;
  return String(number);
}

/** One spelling for expressions that differ in white space and brackets alone, so that these are known as the same. */
export function spellingOf(source: string): string {
  const planned = planOf(source, 'amount');
  return planned.ok ? planned.spelling : source;
}

function answerOf(planned: Pick<PlannedWell, 'run' | 'readsNow'>, facts: ConditionFacts): unknown {
  const { input, context, agent, capability, now } = facts;
  const bindings: Record<string, CelInput> = Object.assign(Object.create(null) as Record<string, CelInput>, {
    input: celObject(input),
    context: context === undefined ? NOTHING : celObject(context),
    agent: new Map<string, CelInput>([['id', agent.id], ['riskLevel', agent.riskLevel], ['tags', [...agent.tags]]]),
    capability,
    ...(planned.readsNow ? { now: timestamp(now) } : {}),
  });
  openAccount();
  return planned.run(bindings);
}

type Wanted = 'boolean' | 'amount';

function planOf(source: string, wanted: Wanted): Planned {
  // Before the cache: what is too long must not fill it.
  if (source.length > CONDITION_LENGTH_MAX) {
    const message = `a condition has at most ${CONDITION_LENGTH_MAX} characters`;
    return { ok: false, position: positionAt(source, CONDITION_LENGTH_MAX), message };
  }
  return plans.get(`${wanted} ${source}`, () => makePlan(source, wanted));
}

function makePlan(source: string, wanted: Wanted): Planned {
  let ast: Ast;
  try {
    ast = parse(source);
  } catch (problem) {
    return { ok: false, ...syntaxProblem(source, problem) };
  }
  try {
    // Before the check, which wraps macros in its meter.
    const spelling = unparse(ast);
    const { variables } = checkTree(ast.expr, wanted);
    const run = plan(conditionEnvironment, ast) as Run;
    return { ok: true, run, readsNow: variables.has('now'), ast, spelling };
  } catch (problem) {
    if (problem instanceof ConditionProblem) {
      return { ok: false, position: positionAt(source, offsetOf(ast, problem.node)), message: problem.message };
    }
    return { ok: false, position: positionAt(source, 0), message: 'this cannot be evaluated' };
  }
}

function syntaxProblem(source: string, problem: unknown): { position: Position; message: string } {
  const { location } = problem as { location?: { start: { offset: number } } };
  const offset = location?.start.offset ?? 0;
  const found = offset >= source.length ? 'the end' : `\`${source.slice(offset, offset + 12)}\``;
  return { position: positionAt(source, offset), message: `did not expect ${found} here` };
}

function offsetOf(ast: Ast, node: bigint): number {
  return ast.sourceInfo?.positions[node.toString()] ?? 0;
}

function positionAt(source: string, offset: number): Position {
  const before = source.slice(0, offset).split('\n');
  return { line: before.length, column: before[before.length - 1]!.length + 1, offset };
}

// The library's own messages may quote values of the input, and reasons go into the audit entry: only kinds are named.
function whyNot(error: Error & { readonly exprId?: bigint | undefined }, ast: Ast, source: string): string {
  const limit = error instanceof LimitReached ? error : error.cause instanceof LimitReached ? error.cause : undefined;
  if (limit) return limit.message;
  const kind = /^(field not found|unresolved|index )/.test(error.message)
    ? 'a member it reads is missing'
    : /overload|type mismatch/.test(error.message)
      ? 'a value has another type'
      : 'an operation failed';
  if (error.exprId === undefined) return kind;
  const { line, column } = positionAt(source, offsetOf(ast, error.exprId));
  return `${kind}, at ${line}:${column}`;
}

const NOTHING = new Map<string, CelInput>();
const converted = new WeakMap<JsonObject, Map<string, CelInput>>();

/**
 * JSON objects become maps before the library sees them: it takes an object with a member `$typeName` for a message
 * and stumbles over one named `constructor`, and both are ordinary members of an input. Kept per object, since all
 * conditions of a grant read the same one. As canonical JSON has them, members sorted and no negative zero: a call is judged again when
 * it is approved, when it begins and when the log is verified, each time from canonical text.
 */
function celObject(value: JsonObject): Map<string, CelInput> {
  const known = converted.get(value);
  if (known) return known;
  const map = new Map<string, CelInput>();
  for (const member of Object.keys(value).sort()) map.set(member, celInput(value[member]!));
  converted.set(value, map);
  return map;
}

function celInput(value: JsonValue): CelInput {
  if (Object.is(value, -0)) return 0;
  if (value === null || typeof value !== 'object') return value;
  return Array.isArray(value) ? value.map(celInput) : celObject(value);
}

// The library makes timestamps out of its own messages only; it makes those itself.
const makeTimestamp = plan(conditionEnvironment, parse('timestamp(text)'));

function timestamp(now: Date): CelInput {
  openAccount();
  const made = makeTimestamp({ text: now.toISOString() });
  if (isCelError(made)) throw made;
  return made;
}
