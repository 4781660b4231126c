// npm run lint [-- --only style,layers,structure] [--root <folder>] [--fix]
// Style (ESLint with types), layers (dependency-cruiser), structure (checks of our own on the syntax tree).
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkDatabaseAccess } from './lint/database-access.mjs';
import { checkFramework } from './lint/framework.mjs';
import { checkMachinePaths } from './lint/machine-paths.mjs';
import { checkNaming } from './lint/naming.mjs';
import { checkRoutes } from './lint/routes.mjs';
import { checkScopedQueries } from './lint/scoped-queries.mjs';
import { readSources } from './lint/sources.mjs';
import { checkTableOwnership } from './lint/table-ownership.mjs';

const CHECKS = {
  structure: (root) => {
    const sources = readSources(root);
    return [
      ...checkRoutes(sources),
      ...checkDatabaseAccess(sources),
      ...checkScopedQueries(sources),
      ...checkTableOwnership(sources),
      ...checkFramework(sources),
      ...checkNaming(sources),
      ...checkMachinePaths(root),
    ];
  },
  layers: async (root) => (await import('./lint/layers.mjs')).checkLayers(root),
  style: async (root, options) => (await import('./lint/style.mjs')).checkStyle(root, options),
};

const { values } = parseArgs({
  options: {
    root: { type: 'string', default: '.' },
    only: { type: 'string', default: Object.keys(CHECKS).join(',') },
    fix: { type: 'boolean', default: false },
  },
});
const root = resolve(values.root);
const wanted = values.only.split(',');
const unknown = wanted.filter((name) => !(name in CHECKS));
if (unknown.length > 0) {
  process.stderr.write(`lint: no check named ${unknown.join(', ')}; there are ${Object.keys(CHECKS).join(', ')}\n`);
  process.exit(2);
}

let failures = 0;
for (const name of wanted) {
  const began = performance.now();
  const findings = await CHECKS[name](root, { fix: values.fix });
  failures += findings.length;
  for (const { path, line, rule, message } of findings) process.stdout.write(`${path}:${line}  ${rule}  ${message}\n`);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  process.stdout.write(`${name}: ${findings.length === 0 ? 'clean' : `${findings.length} findings`} (${seconds} s)\n`);
}
process.exitCode = failures === 0 ? 0 : 1;
