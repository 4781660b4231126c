// A table has one owner, which alone writes it; SQL of a module names only tables of the platform, its own, and those below.
import ts from 'typescript';
import { CALLED_FROM, MODULE_GRAPH, NAMED_BY_PLATFORM, TABLES_WITHOUT_ENTITY, modulesBelow } from './module-graph.mjs';
import { decoratorsOf, finding, importsOf, isTest, moduleOf, walk } from './sources.mjs';
import { looksLikeSql, tablesNamed } from './sql-text.mjs';

const ENTITY_WRITES = new Set([
  'save', 'insert', 'update', 'upsert', 'delete', 'remove', 'softDelete', 'softRemove', 'increment', 'decrement', 'clear',
]);

/** Table → owner, from the entities by their folder and from the list of tables without one. */
export function tableOwners(sources, withoutEntity = TABLES_WITHOUT_ENTITY) {
  const owners = new Map();
  for (const [owner, tables] of Object.entries(withoutEntity)) for (const table of tables) owners.set(table, owner);
  for (const source of sources) {
    const owner = moduleOf(source.path) ?? (source.path.startsWith('src/platform/') ? 'platform' : undefined);
    if (owner === undefined || isTest(source.path)) continue;
    walk(source.tree, (node) => {
      if (!ts.isClassDeclaration(node)) return;
      for (const { name, args } of decoratorsOf(node)) {
        if (name === 'Entity' && args[0] && ts.isStringLiteral(args[0])) owners.set(args[0].text, owner);
      }
    });
  }
  return owners;
}

export function checkTableOwnership(sources, { graph = MODULE_GRAPH, withoutEntity = TABLES_WITHOUT_ENTITY } = {}) {
  const owners = tableOwners(sources, withoutEntity);
  return sources.flatMap((source) => {
    if (source.path.startsWith('migrations/')) return unownedTables(source, owners);
    const module = moduleOf(source.path);
    if (isTest(source.path)) return [];
    return [...checkCalls(source), ...checkWrites(source, module, owners, graph)];
  });
}

function checkWrites(source, module, owners, graph) {
  if (module === undefined && !source.path.startsWith('src/platform/')) return [];
  return [...checkSql(source, module ?? 'platform', owners, graph), ...checkEntityWrites(source, module)];
}

/** Whoever calls these writes the log's tables without naming them. */
function checkCalls(source) {
  const findings = [];
  if (!source.path.startsWith('src/')) return findings;
  walk(source.tree, (node) => {
    if (!isText(node)) return;
    for (const [, name] of node.getText(source.tree).matchAll(/\b([a-z_]+)_v(?:\d+"?\s*\(|\$\{)/gi)) {
      const folder = CALLED_FROM[name.toLowerCase()];
      if (folder === undefined || source.path.startsWith(folder)) continue;
      findings.push(finding(source, node, 'table-ownership', `${name} is called in ${folder} alone`));
    }
  });
  return findings;
}

function isText(node) {
  return ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node);
}

function checkSql(source, self, owners, graph) {
  const readable = new Set(['platform', self, ...modulesBelow(self, graph)]);
  const findings = [];
  for (const { node, sql } of sqlTexts(source)) {
    for (const { table, verb } of tablesNamed(sql)) {
      const owner = owners.get(table);
      if (table === '${}') {
        // The platform pages whatever list a module describes; the description (`from: '…'`) is read in the module.
        if (self === 'platform') continue;
        findings.push(finding(source, node, 'table-ownership', 'a table is named in the text, not put together at run time'));
      } else if (owner === undefined || (self === 'platform' && table in NAMED_BY_PLATFORM)) {
        continue;   // a common table expression, an alias, a catalogue of PostgreSQL
      } else if (!readable.has(owner)) {
        findings.push(finding(source, node, 'table-ownership', `${self} names ${table} of ${owner}, which is not below it`));
      } else if (verb === 'write' && owner !== self) {
        findings.push(finding(source, node, 'table-ownership', `${self} writes ${table}, which only ${owner} may write`));
      }
    }
  }
  return findings;
}

// A string is SQL by its look, or because it is handed to query(…), tagged sql`…`, or the `from` of a described list.
function* sqlTexts(source) {
  const found = [];
  const constants = constantTexts(source);
  walk(source.tree, (node) => {
    if (!isText(node)) return;
    const sql = textOf(node, constants);
    const parent = node.parent;
    const handed =
      (ts.isCallExpression(parent) && parent.arguments[0] === node && /\.query$/.test(parent.expression.getText(source.tree))) ||
      (ts.isTaggedTemplateExpression(parent) && parent.tag.getText(source.tree) === 'sql');
    const described =
      ts.isPropertyAssignment(parent) && parent.name.getText(source.tree) === 'from' && /\.(store|query)\.ts$/.test(source.path);
    if (described) found.push({ node, sql: `from ${sql}` });
    else if (handed || looksLikeSql(sql)) found.push({ node, sql });
  });
  yield* found;
}

function textOf(node, constants) {
  if (!ts.isTemplateExpression(node)) return node.text;
  const spans = node.templateSpans.map(({ expression, literal }) => {
    const known = ts.isIdentifier(expression) ? constants.get(expression.text) : undefined;
    return (known ?? '${}') + literal.text;
  });
  return node.head.text + spans.join('');
}

// A text that a file names once (const SOURCE = '…') stands in its SQL as if it were written there.
function constantTexts(source) {
  const texts = new Map();
  for (const statement of source.tree.statements) {
    if (!ts.isVariableStatement(statement) || !(statement.declarationList.flags & ts.NodeFlags.Const)) continue;
    for (const { name, initializer } of statement.declarationList.declarations) {
      if (initializer === undefined || !ts.isIdentifier(name)) continue;
      const text = ts.isStringLiteral(initializer) || ts.isNoSubstitutionTemplateLiteral(initializer);
      if (text || ts.isTemplateExpression(initializer)) texts.set(name.text, textOf(initializer, texts));
    }
  }
  return texts;
}

function checkEntityWrites(source, module) {
  if (module === undefined) return [];
  const findings = [];
  const imports = importsOf(source);
  const foreign = (node) => {
    const imported = node && ts.isIdentifier(node) ? imports.get(node.text) : undefined;
    return imported !== undefined && /\.entity\.js$/.test(imported.from) && imported.from.startsWith('../');
  };
  walk(source.tree, (node) => {
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return;
    const method = node.expression.name.text;
    const writes = ENTITY_WRITES.has(method) && foreign(node.arguments[0]);
    const builder = (method === 'into' || method === 'getRepository') && foreign(node.arguments[0]);
    if ((writes || builder) && !isOwnEntity(source.path, imports.get(node.arguments[0].text).from, module)) {
      const entity = node.arguments[0].getText(source.tree);
      findings.push(finding(source, node, 'table-ownership', `${method}(${entity}): only the store of its own module writes it`));
    }
  });
  return findings;
}

// `../x.entity.js` from a sub-folder may still be the module's own.
function isOwnEntity(path, from, module) {
  return moduleOf(new URL(from, `file:///${path}`).pathname.slice(1)) === module;
}

function unownedTables(source, owners) {
  const findings = [];
  const named = /\bcreate\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?"?([a-z_][a-z0-9_]*)"?/gi;
  for (const match of source.text.matchAll(named)) {
    if (owners.has(match[1])) continue;
    const line = source.text.slice(0, match.index).split('\n').length;
    const message = `nobody owns ${match[1]}: give it an entity, or a line in scripts/lint/module-graph.mjs`;
    findings.push({ path: source.path, line, rule: 'table-ownership', message });
  }
  return findings;
}
