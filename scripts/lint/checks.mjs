// What the lint looks for, by name. Each takes the folder and answers its findings: path, line, rule and message.
import { checkDatabaseAccess } from './database-access.mjs';
import { checkFramework } from './framework.mjs';
import { checkLayout } from './layout.mjs';
import { checkMachinePaths } from './machine-paths.mjs';
import { checkNaming } from './naming.mjs';
import { checkRoutes } from './routes.mjs';
import { checkScopedQueries } from './scoped-queries.mjs';
import { readSources } from './sources.mjs';
import { checkTableOwnership } from './table-ownership.mjs';

export const CHECKS = {
  structure: (root) => {
    const sources = readSources(root);
    return [
      ...checkRoutes(sources),
      ...checkDatabaseAccess(sources),
      ...checkScopedQueries(sources),
      ...checkTableOwnership(sources),
      ...checkFramework(sources),
      ...checkNaming(sources),
      ...checkLayout(sources),
      ...checkMachinePaths(root),
    ];
  },
  layers: async (root) => (await import('./layers.mjs')).checkLayers(root),
  style: async (root, options) => (await import('./style.mjs')).checkStyle(root, options),
};
