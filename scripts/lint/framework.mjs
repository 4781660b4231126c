// What the framework offers and this code base refuses, each because it hides a cycle or a cost.
import ts from 'typescript';
import { decoratorsOf, finding, isTest, walk } from './sources.mjs';

const MAX_DEPENDENCIES = 6;
const RELATIONS = new Set(['ManyToOne', 'OneToOne', 'ManyToMany']);
const MAY_PRINT = [/^src\/cli\//, /^src\/main\.ts$/, /^scripts\//, /^sdk\/src\/(gate\/governed|node\/run-node)\.ts$/];

export function checkFramework(sources) {
  return sources
    .filter(({ path }) => !isTest(path))
    .flatMap((source) => {
      const findings = [];
      const report = (node, rule, message) => findings.push(finding(source, node, rule, message));
      walk(source.tree, (node) => {
        if (ts.isIdentifier(node) && node.text === 'forwardRef') {
          report(node, 'no-forward-ref', 'forwardRef hides a cycle: move what both need below both');
        }
        if (ts.isPropertyAccessExpression(node)) checkProperty(node, source, report);
        if (ts.isPropertyDeclaration(node)) checkRelations(node, report);
        if (ts.isClassDeclaration(node)) checkDependencies(node, report);
      });
      return findings;
    });
}

function checkProperty(node, source, report) {
  const text = node.getText(source.tree);
  if (/^Scope\.(REQUEST|TRANSIENT)$/.test(text)) {
    report(node, 'no-request-scope', 'request-scoped providers are rebuilt for every call: use requestContext');
  }
  if (/^console\.\w+$/.test(text) && !MAY_PRINT.some((pattern) => pattern.test(source.path))) {
    report(node, 'no-console', 'use the logger; only the cli and the start-up banner print');
  }
}

function checkRelations(node, report) {
  for (const { name, args } of decoratorsOf(node)) {
    if (name === 'OneToMany') report(node, 'no-bidirectional-relation', 'an entity knows its parent, never its children');
    if (RELATIONS.has(name) && args.slice(1).some((arg) => ts.isArrowFunction(arg) || ts.isStringLiteral(arg))) {
      report(node, 'no-bidirectional-relation', `@${name} names the inverse side: relations go one way`);
    }
  }
}

function checkDependencies(node, report) {
  if (!decoratorsOf(node).some(({ name }) => name === 'Injectable' || name === 'Controller')) return;
  const constructor = node.members.find(ts.isConstructorDeclaration);
  const count = constructor?.parameters.length ?? 0;
  if (count > MAX_DEPENDENCIES) {
    report(constructor, 'few-dependencies', `${count} dependencies: over ${MAX_DEPENDENCIES}, a class has two subjects`);
  }
}
