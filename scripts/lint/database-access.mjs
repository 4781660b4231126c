// Only the database platform, stores, queries and entities touch TypeORM's handles, so that no write escapes a unit of work.
import ts from 'typescript';
import { finding, importsOf, isTest, walk } from './sources.mjs';

const HANDLES = new Set([
  'DataSource',
  'EntityManager',
  'QueryRunner',
  'Repository',
  'TreeRepository',
  'InjectRepository',
  'InjectDataSource',
  'InjectEntityManager',
  'getRepositoryToken',
  'getDataSourceToken',
]);
const CLIENTS = new Set(['Pool', 'Client', 'PoolClient']);

const MAY_HOLD = [
  /^src\/platform\/database\//,
  /^src\/platform\/(embedded|wake)\//,
  /^src\/.*\.(store|query|entity)\.ts$/,
  /^src\/(.*\/)?first-run(\.[a-z]+)?\.ts$/,
  /^src\/main\.ts$/,
  /^migrations\//,
];

export function checkDatabaseAccess(sources) {
  const findings = [];
  for (const source of sources) {
    if (isTest(source.path) || MAY_HOLD.some((pattern) => pattern.test(source.path))) continue;
    for (const { name, from, node } of importsOf(source).values()) {
      const handle = (/^(typeorm|@nestjs\/typeorm)$/.test(from) && HANDLES.has(name)) || (from === 'pg' && CLIENTS.has(name));
      if (handle) {
        const message = `${name} belongs in a *.store.ts or *.query.ts; a service writes through UnitOfWork`;
        findings.push(finding(source, node, 'database-access', message));
      }
    }
    walk(source.tree, (node) => {
      if (!ts.isPropertyAccessExpression(node) || node.name.text !== 'manager') return;
      if (/(^|\.)tx$/.test(node.expression.getText(source.tree))) {
        findings.push(finding(source, node, 'database-access', 'tx.manager is for stores; call a store instead'));
      }
    });
  }
  return findings;
}
