import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import ts from 'typescript';
import { EVENTS } from '../../../src/domain/audit/catalogue/audit-events.js';
import { CHECKOUT } from '../../support/servers/test-run.js';

/** Functions of the modules that take an event's type and record it. */
const RECORDS = /^(entry|eventOf|this\.finish)$/;

const types = new Set(Object.keys(EVENTS));
const sources = ['src/modules', 'src/platform', 'src/cli'].flatMap((folder) =>
  (readdirSync(join(CHECKOUT, folder), { recursive: true }) as string[])
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts')).map((file) => join(folder, file)));

/** Event types that the code of a file records, as it stands in its syntax; and whether it records any without naming it. */
function recordedIn(text: string): string[] {
  const found: string[] = [];
  const literals = (node: ts.Node): string[] => {
    if (ts.isStringLiteralLike(node)) return [node.text];
    if (ts.isAsExpression(node) || ts.isParenthesizedExpression(node)) return literals(node.expression);
    if (ts.isConditionalExpression(node)) return [...literals(node.whenTrue), ...literals(node.whenFalse)];
    return [];
  };
  const visit = (node: ts.Node): void => {
    // { type: 'agent.removed', … }
    if (ts.isPropertyAssignment(node) && node.name.getText() === 'type') found.push(...literals(node.initializer));
    // entry('hitl.voted', …), this.finish(tx, 201, 'capability.defined', …): functions that record what they are given the type of
    if (ts.isCallExpression(node) && RECORDS.test(node.expression.getText())) {
      found.push(...node.arguments.flatMap(literals));
    }
    // case 'hitl.approved': return entry(type, …)
    if (ts.isCaseClause(node) && /\bentry\(type\b/.test(node.statements.map((statement) => statement.getText()).join(''))) {
      found.push(...literals(node.expression));
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('code.ts', text, ts.ScriptTarget.Latest, true));
  return found.filter((type) => types.has(type));
}

const recorded = new Set(sources.flatMap((file) => recordedIn(readFileSync(join(CHECKOUT, file), 'utf8'))));

describe('every event of the catalogue', () => {
  test.each([...types])('%s is recorded by code that exists', (type) => {
    expect([...recorded]).toContain(type);
  });

  test('is found where it is recorded, and not where it is compared, queried or asked for', () => {
    expect(recordedIn(`tx.record(chain, { type: isNew ? 'capability.granted' : 'capability.config_updated', metadata })`))
      .toEqual(['capability.granted', 'capability.config_updated']);
    expect(recordedIn(`switch (type) { case 'hitl.approved': return entry(type, {}); case 'hitl.rejected': return 'no'; }`))
      .toEqual(['hitl.approved']);
    expect(recordedIn(`if (type === 'agent.removed') run("event = 'agent.updated'", '@Access', access('hitl.voted'));`)).toEqual([]);
  });
});

/** Of everything that has to be marked where the agent is of high risk. */
test('what agents do and what is decided of it can be flagged', () => {
  const marked = Object.entries(EVENTS).filter(([, { members }]) => 'flagged' in members).map(([type]) => type);
  expect(marked).toEqual([...types].filter((type) => /^(execution|hitl)\./.test(type)));
});
