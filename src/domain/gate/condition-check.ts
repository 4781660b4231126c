import type { parse } from '@bufbuild/cel';
import { CelScalar } from '@bufbuild/cel';
import { conditionEnvironment, pattern, PATTERN_SIZE_MAX, RANGE } from './condition-environment.js';

export type Ast = ReturnType<typeof parse>;
type Expr = Ast['expr'];
type ExprKind = Expr['exprKind'];
type Call = Extract<ExprKind, { case: 'callExpr' }>['value'];
type Comprehension = Extract<ExprKind, { case: 'comprehensionExpr' }>['value'];

/** What a condition may read. */
const VARIABLES: ReadonlySet<string> = new Set(['input', 'context', 'agent', 'capability', 'now']);
const LISTED = [...VARIABLES].join(', ').replace(/, (\w+)$/, ' and $1');
const TYPE_NAMES = new Set(['int', 'uint', 'double', 'bool', 'string', 'bytes', 'list', 'map', 'null_type', 'type']);
const MACROS_MAX = 2;

/** What a check found: `node` is the id of the expression it concerns. */
export class ConditionProblem extends Error {
  constructor(
    message: string,
    readonly node: bigint,
  ) {
    super(message);
  }
}

export interface Checked {
  readonly variables: ReadonlySet<string>;
}

/**
 * Refuses what a stored condition may not hold: unknown names and functions, more than two macros or nested ones,
 * patterns that are not literal, and results that cannot be what is wanted. It also wraps each macro's range, so that
 * its size is known to the meter before the first element; the tree itself is changed.
 */
export function checkTree(root: Expr, wanted: 'boolean' | 'amount'): Checked {
  const variables = new Set<string>();
  let macros = 0;

  function visit(node: Expr | undefined, scope: ReadonlySet<string>, inMacro: boolean): number {
    if (!node) return 0;
    const { exprKind: kind, id } = node;
    switch (kind.case) {
      case 'identExpr': {
        const name = kind.value.name.replace(/^\./, '');
        if (VARIABLES.has(name) && !scope.has(name)) variables.add(name);
        else if (!scope.has(name) && !TYPE_NAMES.has(name)) {
          const instead = `there are ${LISTED}, and a member of the input is \`input.${name}\``;
          throw new ConditionProblem(`there is no variable \`${name}\` here; ${instead}`, id);
        }
        return 1;
      }
      case 'selectExpr':
        return 1 + visit(kind.value.operand, scope, inMacro);
      case 'callExpr':
        checkCall(kind.value, id);
        return [kind.value.target, ...kind.value.args].reduce((sum, part) => sum + visit(part, scope, inMacro), 1);
      case 'listExpr':
        return kind.value.elements.reduce((sum, element) => sum + visit(element, scope, inMacro), 1);
      case 'structExpr':
        if (kind.value.messageName !== '') throw new ConditionProblem('messages cannot be made here', id);
        return kind.value.entries.reduce((sum, entry) => {
          const key = entry.keyKind.case === 'mapKey' ? visit(entry.keyKind.value, scope, inMacro) : 0;
          return sum + key + visit(entry.value, scope, inMacro);
        }, 1);
      case 'comprehensionExpr':
        if (inMacro) throw new ConditionProblem('a macro cannot stand inside another one', id);
        if (++macros > MACROS_MAX) throw new ConditionProblem(`at most ${MACROS_MAX} macros`, id);
        return visitMacro(kind.value, scope);
      default:
        return 1;
    }
  }

  function visitMacro(macro: Comprehension, scope: ReadonlySet<string>): number {
    const range = visit(macro.iterRange, scope, true);
    const inside = new Set([...scope, macro.iterVar, macro.accuVar]);
    const body = [macro.accuInit, macro.loopCondition, macro.loopStep, macro.result]
      .reduce((sum, part) => sum + visit(part, inside, true), 0);
    if (macro.iterRange) macro.iterRange = announced(macro.iterRange, body);
    return range + body;
  }

  visit(root, new Set(), false);
  if (wanted === 'boolean') checkBoolean(root);
  else checkNumber(root);
  return { variables };
}

// The range stays where it is for error positions: the wrapper has its node's id.
function announced(range: Expr, bodyNodes: number): Expr {
  const cost = { ...range, exprKind: { case: 'constExpr', value: constant(bodyNodes) } } as Expr;
  const call = { $typeName: 'cel.expr.Expr.Call', function: RANGE, args: [range, cost] } as const;
  return { ...range, exprKind: { case: 'callExpr', value: { ...call, args: [...call.args] } } };
}

function constant(value: number) {
  return { $typeName: 'cel.expr.Constant', constantKind: { case: 'int64Value', value: BigInt(value) } } as const;
}

function checkCall(call: Call, id: bigint): void {
  if (call.function.includes('?') && call.function !== '_?_:_') {
    throw new ConditionProblem('optional members are not supported', id);
  }
  if (!/^[a-zA-Z]/.test(call.function)) return;
  const group = conditionEnvironment.funcs.find(call.function);
  if (!group) throw new ConditionProblem(`there is no function \`${call.function}\``, id);
  const fits = [...group].some(({ target, arguments: parameters }) =>
    (target !== undefined) === (call.target !== undefined) && parameters.length === call.args.length);
  if (!fits) throw new ConditionProblem(`\`${call.function}\` is not called like this`, id);
  if (call.function === 'matches') checkPattern(call.args[0], id);
}

function checkPattern(arg: Expr | undefined, id: bigint): void {
  const literal = arg?.exprKind.case === 'constExpr' ? arg.exprKind.value.constantKind : undefined;
  if (literal?.case !== 'stringValue') throw new ConditionProblem('`matches` takes a literal pattern', id);
  let size: number;
  try {
    size = pattern(literal.value).programSize();
  } catch {
    throw new ConditionProblem('the pattern is not one that RE2 knows', arg?.id ?? id);
  }
  if (size > PATTERN_SIZE_MAX) throw new ConditionProblem('the pattern is too large', arg?.id ?? id);
}

// There is no type checker for whole expressions, but what can never be true or false is plain to see.
function checkBoolean({ exprKind: kind, id }: Expr): void {
  const never =
    (kind.case === 'constExpr' && kind.value.constantKind.case !== 'boolValue') ||
    kind.case === 'listExpr' ||
    kind.case === 'structExpr' ||
    (kind.case === 'callExpr' && answersOtherThanBool(kind.value.function));
  if (never) throw new ConditionProblem('a condition must answer true or false', id);
}

function checkNumber({ exprKind: kind, id }: Expr): void {
  const numbers = ['int64Value', 'uint64Value', 'doubleValue'];
  const never =
    (kind.case === 'constExpr' && !numbers.includes(kind.value.constantKind.case ?? '')) ||
    kind.case === 'listExpr' ||
    kind.case === 'structExpr' ||
    (kind.case === 'callExpr' && answersOtherThanNumber(kind.value.function));
  if (never) throw new ConditionProblem('a sum must answer a number', id);
}

function answersOtherThanBool(name: string): boolean {
  return answersOtherThan(name, [CelScalar.BOOL, CelScalar.DYN]);
}

function answersOtherThanNumber(name: string): boolean {
  return answersOtherThan(name, [CelScalar.INT, CelScalar.UINT, CelScalar.DOUBLE, CelScalar.DYN]);
}

function answersOtherThan(name: string, types: readonly unknown[]): boolean {
  const results = [...(conditionEnvironment.funcs.find(name) ?? [])].map((candidate) => candidate.result);
  return results.length > 0 && results.every((result) => !types.includes(result));
}
