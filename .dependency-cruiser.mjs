// The layers of docs/architecture.md: domain ← platform ← modules, modules along the arrows of scripts/lint/module-graph.mjs.
import { MODULE_GRAPH, PURE_LIBRARIES, modulesBelow } from './scripts/lint/module-graph.mjs';

const TESTS = '\\.test\\.ts$';

const layers = [
  {
    name: 'domain-is-pure',
    comment: 'src/domain imports itself, node:crypto and the pure libraries: a decision depends on its arguments alone.',
    severity: 'error',
    from: { path: '^src/domain/', pathNot: TESTS },
    to: {
      pathNot: ['^src/domain/', '^(node:)?crypto$', `^node_modules/(${PURE_LIBRARIES.join('|')})/`],
    },
  },
  {
    name: 'domain-tests-stay-in-domain',
    comment: 'A test of the domain needs nothing above the domain but what tests share.',
    severity: 'error',
    from: { path: `^src/domain/.*${TESTS}` },
    to: { path: '^(src/(?!domain/)|test/(?!support/))' },
  },
  {
    name: 'platform-below-modules',
    comment: 'src/platform serves every module and knows none; a port is declared here and registered by the module at start.',
    severity: 'error',
    from: { path: '^src/platform/' },
    to: { path: '^src/(?!domain/|platform/)' },
  },
  {
    name: 'modules-below-the-application',
    comment: 'A module does not know how it is started or operated.',
    severity: 'error',
    from: { path: '^src/modules/' },
    to: { path: '^src/(?!domain/|platform/|modules/)' },
  },
  {
    name: 'cli-uses-pure-parts',
    comment: 'An operator command talks to the API or to a function of a module, never to its controllers, presenters or wiring.',
    severity: 'error',
    from: { path: '^src/cli/' },
    to: { path: '^src/(app|app\\.module|configure-app)\\.ts$|^src/modules/.*\\.(controller|module|presenter)\\.ts$' },
  },
  {
    name: 'service-commands-are-clients',
    comment: 'A command that calls a server has no right of its own, and starts at once: it loads no server code but the reader of JSON.',
    severity: 'error',
    from: { path: '^src/cli/service/' },
    to: {
      reachable: true, path: '^src/(modules|platform|start)/',
      pathNot: ['/config/checkout-root\\.ts$', '^src/start/environment-file\\.ts$', '/http/request/(strict-json|json-pointer)\\.ts$'],
    },
  },
  {
    name: 'sdk-stands-alone',
    comment: 'The SDK has no dependency: it is itself, and for nodes a few modules of Node.',
    severity: 'error',
    from: { path: '^sdk/src/' },
    to: { pathNot: ['^sdk/src/', '^(node:)?(fs|os|timers/promises)$'] },
  },
  {
    name: 'migrations-are-frozen',
    comment: 'A migration runs for years after the modules have changed, so it imports none of them.',
    severity: 'error',
    from: { path: '^migrations/' },
    to: { path: '^src/modules/' },
  },
];

const moduleArrows = Object.keys(MODULE_GRAPH).map((module) => ({
  name: `arrows-of-${module}`,
  comment: `src/modules/${module} may import: ${modulesBelow(module).join(', ') || 'no other module'}.`,
  severity: 'error',
  from: { path: `^src/modules/${module}/` },
  to: { path: '^src/modules/', pathNot: `^src/modules/(${[module, ...modulesBelow(module)].join('|')})/` },
}));

const hygiene = [
  {
    name: 'no-cycles',
    comment: 'Two files that need each other are one file, or hide a third.',
    severity: 'error',
    from: {},
    to: { circular: true },
  },
  {
    name: 'no-barrels',
    comment: 'Import the file that declares the name; an index file makes cycles and hides arrows.',
    severity: 'error',
    from: { path: '^(src|test|bench|migrations)/' },
    to: { path: '/index\\.ts$', pathNot: 'node_modules' },
  },
  {
    name: 'tests-start-the-built-server',
    comment: 'API tests start what npm start serves; a unit test needs one service, never the application module.',
    severity: 'error',
    from: { path: ['^test/', TESTS] },
    to: { path: '^src/(app|app\\.module|main)\\.ts$' },
  },
  {
    name: 'product-without-tests',
    comment: 'What ships imports neither tests nor their support.',
    severity: 'error',
    from: { path: '^(src|migrations)/', pathNot: TESTS },
    to: { path: ['^(test|bench)/', TESTS] },
  },
  {
    name: 'product-without-dev-dependencies',
    comment: 'What ships is installed without dev dependencies; a type alone leaves no trace in the build.',
    severity: 'error',
    from: { path: '^(src|migrations)/', pathNot: TESTS },
    to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
  },
];

export default {
  forbidden: [...layers, ...moduleArrows, ...hygiene],
  options: {
    // Without it an `import type` across a layer goes unseen.
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    // What is generated there is other people's.
    exclude: { path: '^(test|bench)/peers/' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
  },
};
