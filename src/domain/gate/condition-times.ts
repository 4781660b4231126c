import { type Ast } from './condition-check.js';

type Expr = Ast['expr'];

/**
 * How an expression hangs on the time of the call: not at all; in steps, so that it stays the same from one full minute to the next but
 * where one of its comparisons turns; or finely, so that any two times may differ.
 */
export type TimeReading = 'not' | 'in steps' | 'finely';

/** The same through a minute. */
const OF_MINUTES: ReadonlySet<string> = new Set([
  'getFullYear', 'getMonth', 'getDate', 'getDayOfMonth', 'getDayOfWeek', 'getDayOfYear', 'getHours', 'getMinutes',
]);
const COMPARISONS: ReadonlySet<string> = new Set(['_<_', '_<=_', '_>_', '_>=_']);
const SHIFTS: ReadonlySet<string> = new Set(['_+_', '_-_']);

/** @param readsNow whether it reads `now` at all */
export function timeReadingOf(root: Expr, readsNow: boolean): TimeReading {
  if (!readsNow) return 'not';
  return readsFinely(root, false) ? 'finely' : 'in steps';
}

/** The comparisons with the time itself, of an expression that is read in steps: as time goes on, each of them turns once at most. */
export function comparisonsIn(node: Expr): Expr[] {
  return isComparison(node) ? [node] : partsOf(node).flatMap(comparisonsIn);
}

/** Whether `now` stands anywhere but where it is only read in steps. In a macro a comparison turns as often as there are elements. */
function readsFinely(node: Expr, inMacro: boolean): boolean {
  if (isNow(node)) return true;
  if (isComparison(node)) return inMacro;
  const { exprKind: kind } = node;
  if (kind.case === 'callExpr' && OF_MINUTES.has(kind.value.function) && isNow(kind.value.target)) {
    return kind.value.args.some((one) => readsFinely(one, inMacro));
  }
  return partsOf(node).some((one) => readsFinely(one, inMacro || kind.case === 'comprehensionExpr'));
}

/** Of the time, or so much earlier or later, with what is the same for all calls like this one. */
function isComparison({ exprKind: kind }: Expr): boolean {
  return kind.case === 'callExpr' && COMPARISONS.has(kind.value.function) && isShift(kind.value.args);
}

function isShift(args: readonly Expr[]): boolean {
  return args.some(isShifted) && args.every((one) => isShifted(one) || !holds(one, 'now', 'agent'));
}

function isShifted(node: Expr): boolean {
  const { exprKind: kind } = node;
  return isNow(node) || (kind.case === 'callExpr' && SHIFTS.has(kind.value.function) && isShift(kind.value.args));
}

function holds(node: Expr, ...variables: readonly string[]): boolean {
  return variables.includes(nameOf(node) ?? '') || partsOf(node).some((one) => holds(one, ...variables));
}

function isNow(node: Expr | undefined): boolean {
  return node !== undefined && nameOf(node) === 'now';
}

function nameOf({ exprKind: kind }: Expr): string | undefined {
  return kind.case === 'identExpr' ? kind.value.name.replace(/^\./, '') : undefined;
}

function partsOf({ exprKind: kind }: Expr): Expr[] {
  switch (kind.case) {
    case 'selectExpr':
      return present(kind.value.operand);
    case 'callExpr':
      return present(kind.value.target, ...kind.value.args);
    case 'listExpr':
      return kind.value.elements;
    case 'structExpr':
      return kind.value.entries.flatMap(({ keyKind, value }) => present(keyKind.case === 'mapKey' ? keyKind.value : undefined, value));
    case 'comprehensionExpr': {
      const { iterRange, accuInit, loopCondition, loopStep, result } = kind.value;
      return present(iterRange, accuInit, loopCondition, loopStep, result);
    }
    default:
      return [];
  }
}

function present(...nodes: readonly (Expr | undefined)[]): Expr[] {
  return nodes.filter((node) => node !== undefined);
}
