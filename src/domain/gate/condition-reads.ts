import { type Ast, VARIABLES } from './condition-check.js';

type Expr = Ast['expr'];

/** A place that an expression reads: a member of a variable, or all of it. */
export interface Read {
  readonly variable: string;
  /** Undefined where it may be any. */
  readonly member: string | undefined;
  /** Its value is used, and not whether it is there: where it is missing, there is no answer that could hide that. */
  readonly isPlain: boolean;
}

/** What an expression may read, whatever comes of its parts. A name that a macro gives to its elements counts as the variable itself. */
export function readsOf(root: Expr): Read[] {
  const reads: Read[] = [];

  function visit(node: Expr | undefined): void {
    if (!node) return;
    const { exprKind: kind } = node;
    const variable = variableOf(node);
    if (variable !== undefined) return void reads.push({ variable, member: undefined, isPlain: false });
    switch (kind.case) {
      case 'selectExpr':
        return readMember(kind.value.operand, kind.value.field, !kind.value.testOnly);
      case 'callExpr': {
        const [operand, index] = kind.value.args;
        const member = kind.value.function === '_[_]' ? textOf(index) : undefined;
        if (member !== undefined) return readMember(operand, member, true);
        return [kind.value.target, ...kind.value.args].forEach(visit);
      }
      case 'listExpr':
        return kind.value.elements.forEach(visit);
      case 'structExpr':
        return kind.value.entries.forEach(({ keyKind, value }) => {
          if (keyKind.case === 'mapKey') visit(keyKind.value);
          visit(value);
        });
      case 'comprehensionExpr': {
        const { iterRange, accuInit, loopCondition, loopStep, result } = kind.value;
        return [iterRange, accuInit, loopCondition, loopStep, result].forEach(visit);
      }
      default:
    }
  }

  function readMember(operand: Expr | undefined, member: string, isPlain: boolean): void {
    const variable = variableOf(operand);
    if (variable === undefined) visit(operand);
    else reads.push({ variable, member, isPlain });
  }

  visit(root);
  return reads;
}

function variableOf(node: Expr | undefined): string | undefined {
  if (node?.exprKind.case !== 'identExpr') return undefined;
  const name = node.exprKind.value.name.replace(/^\./, '');
  return VARIABLES.has(name) ? name : undefined;
}

function textOf(node: Expr | undefined): string | undefined {
  const constant = node?.exprKind.case === 'constExpr' ? node.exprKind.value.constantKind : undefined;
  return constant?.case === 'stringValue' ? constant.value : undefined;
}
