// A route is a declaration: who may call it (@Access) and what it may answer (@Replies). One without a guard never starts.
import ts from 'typescript';
import { decoratorsOf, finding, isTest, walk } from './sources.mjs';

const ROUTES = new Set(['Get', 'Post', 'Put', 'Patch', 'Delete', 'All', 'Head', 'Options', 'Sse']);
const REQUIRED = ['Access', 'Replies'];

export function checkRoutes(sources) {
  const findings = [];
  for (const source of sources) {
    if (isTest(source.path)) continue;
    walk(source.tree, (node) => {
      if (!ts.isMethodDeclaration(node)) return;
      const decorators = decoratorsOf(node);
      const route = decorators.find(({ name }) => ROUTES.has(name));
      if (!route) return;
      const method = node.name.getText(source.tree);
      for (const name of REQUIRED) {
        const declared = decorators.find((decorator) => decorator.name === name);
        if (!declared || declared.args.length === 0) {
          findings.push(finding(source, node, 'route-declares', `${method}: @${route.name} needs @${name}(…)`));
        }
      }
      if (!source.path.endsWith('.controller.ts')) {
        findings.push(finding(source, node, 'route-declares', `${method}: routes stand in *.controller.ts`));
      }
    });
  }
  return findings;
}
