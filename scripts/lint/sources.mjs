// What the structure checks read: every TypeScript source of a checkout, parsed once, without type information.
import { readFileSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import ts from 'typescript';

const FOLDERS = ['src', 'migrations', 'test', 'bench', 'sdk/src'];
/** Generated: `npm run openapi -- --check` compares it. */
const GENERATED = join('sdk', 'src', 'wire.ts');

/** @returns {{path: string, text: string, tree: import('typescript').SourceFile}[]} paths relative to `root`, with `/`. */
export function readSources(root, folders = FOLDERS) {
  return folders
    .flatMap((folder) => filesBelow(join(root, folder)))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts') && relative(root, file) !== GENERATED)
    .sort()
    .map((file) => parseSource(relative(root, file).split(sep).join('/'), readFileSync(file, 'utf8')));
}

export function parseSource(path, text) {
  return { path, text, tree: ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true, ts.ScriptKind.TS) };
}

export function filesBelow(folder) {
  let entries;
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
  return entries.flatMap((entry) => {
    if (entry.name === 'node_modules' || entry.name === 'dist') return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : entry.isFile() ? [path] : [];
  });
}

/** Calls `visit` for every node of the tree, outermost first. */
export function walk(tree, visit) {
  const step = (node) => {
    visit(node);
    ts.forEachChild(node, step);
  };
  step(tree);
}

/** A finding is one line of output: where, which rule, and what to do instead. */
export function finding(source, node, rule, message) {
  const { line } = source.tree.getLineAndCharacterOfPosition(node.getStart(source.tree));
  return { path: source.path, line: line + 1, rule, message };
}

/** Local name → {name, from} for every named import of the file. */
export function importsOf(source) {
  const imports = new Map();
  for (const statement of source.tree.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
    const bindings = statement.importClause?.namedBindings;
    if (!bindings || !ts.isNamedImports(bindings)) continue;
    for (const element of bindings.elements) {
      const name = (element.propertyName ?? element.name).text;
      imports.set(element.name.text, { name, from: statement.moduleSpecifier.text, node: element });
    }
  }
  return imports;
}

/** The decorators of a node by name, each with its call's arguments. */
export function decoratorsOf(node) {
  if (!ts.canHaveDecorators(node)) return [];
  return (ts.getDecorators(node) ?? []).map((decorator) => {
    const call = decorator.expression;
    return ts.isCallExpression(call)
      ? { name: call.expression.getText(), args: [...call.arguments], node: decorator }
      : { name: call.getText(), args: [], node: decorator };
  });
}

/** `agents` for src/modules/agents/x.ts; undefined outside of a module. */
export function moduleOf(path) {
  return /^src\/modules\/([^/]+)\//.exec(path)?.[1];
}

export const isTest = (path) => path.endsWith('.test.ts') || path.startsWith('test/') || path.startsWith('bench/');
