import { type Ast } from './condition-check.js';

type Expr = Ast['expr'];

/**
 * How an expression hangs on the time of the call: not at all; in steps, so that it is the same through a minute or turns at one moment;
 * or finely, so that two times within a second may differ.
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
  return readsFinely(root) ? 'finely' : 'in steps';
}

/** Whether `now` stands anywhere but where it is only read in steps. */
function readsFinely(node: Expr | undefined): boolean {
  if (!node) return false;
  if (isNow(node)) return true;
  const { exprKind: kind } = node;
  switch (kind.case) {
    case 'selectExpr':
      return readsFinely(kind.value.operand);
    case 'callExpr': {
      const { function: name, target, args } = kind.value;
      if (OF_MINUTES.has(name) && isNow(target)) return args.some(readsFinely);
      if (COMPARISONS.has(name)) return args.some((one) => !isShifted(one) && readsFinely(one));
      return [target, ...args].some(readsFinely);
    }
    case 'listExpr':
      return kind.value.elements.some(readsFinely);
    case 'structExpr':
      return kind.value.entries.some(({ keyKind, value }) =>
        readsFinely(value) || (keyKind.case === 'mapKey' && readsFinely(keyKind.value)));
    case 'comprehensionExpr': {
      const { iterRange, accuInit, loopCondition, loopStep, result } = kind.value;
      return [iterRange, accuInit, loopCondition, loopStep, result].some(readsFinely);
    }
    default:
      return false;
  }
}

/** The time itself, or so much earlier or later. */
function isShifted(node: Expr): boolean {
  if (isNow(node)) return true;
  const { exprKind: kind } = node;
  if (kind.case !== 'callExpr' || !SHIFTS.has(kind.value.function)) return false;
  return kind.value.args.some(isShifted) && kind.value.args.every((one) => isShifted(one) || !readsFinely(one));
}

function isNow(node: Expr | undefined): boolean {
  return node?.exprKind.case === 'identExpr' && node.exprKind.value.name.replace(/^\./, '') === 'now';
}
