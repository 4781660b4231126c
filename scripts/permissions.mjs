// Writes docs/permissions.md from the access table and the routes that name its keys; with --check fails when the committed
// page says something else. The routes are those of openapi.json, which has a check of its own.
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import process from 'node:process';
import { prepareOrExit } from './prepare.mjs';

const PAGE = new URL('../docs/permissions.md', import.meta.url);
const TABLE = new URL('../dist/src/domain/access/access.js', import.meta.url);
const ROUTES = new URL('../openapi.json', import.meta.url);

/** In the order of the columns. `anonymous` has none: a key that names it is open to everyone. */
const KINDS = ['root', 'owner', 'admin', 'member', 'viewer', 'agent', 'internal'];
/** Verbs that change nothing. */
const READING = /^(read|verify|proof|export|stats)/;

prepareOrExit();
const { ACCESS } = await import(TABLE.href);
const { paths } = JSON.parse(await readFile(ROUTES, 'utf8'));
const page = pageOf(ACCESS, routesByKey(paths));

if (process.argv.includes('--check')) {
  const committed = existsSync(PAGE) ? await readFile(PAGE, 'utf8') : '';
  if (committed !== page) {
    console.error('docs/permissions.md is not what the access table says. Run `node scripts/permissions.mjs`, commit the result.');
    process.exit(1);
  }
  console.log('docs/permissions.md is up to date.');
} else {
  await mkdir(new URL('.', PAGE), { recursive: true });
  await writeFile(PAGE, page);
  console.log(`docs/permissions.md: ${Object.keys(ACCESS).length} keys.`);
}

function routesByKey(operations) {
  const routes = new Map();
  for (const [path, item] of Object.entries(operations)) {
    for (const [method, operation] of Object.entries(item)) {
      const key = operation['x-access'];
      if (key !== undefined) routes.set(key, [...(routes.get(key) ?? []), `${method.toUpperCase()} ${path}`]);
    }
  }
  return routes;
}

function pageOf(access, routes) {
  const unknown = [...routes.keys()].filter((key) => !(key in access));
  if (unknown.length > 0) throw new Error(`openapi.json names keys that the access table lacks: ${unknown.join(', ')}`);
  const keys = Object.entries(access);
  return [
    '# Permissions',
    '',
    'Who may call what. Generated from `src/domain/access/access.ts` and the routes that name its keys; do not edit.',
    '',
    "**all**: everything in the caller's organizations: for root every one there is, for an owner those of their tenant, for everybody",
    "else their own. **own**: what is the caller's own; another's is answered as if it were not there (404) or, where the caller may",
    'see that it is, with 403. Empty: 403. Whatever belongs to another organization is 404 under each of them. A route names exactly one',
    'key; the server does not start with one that names none. `test/contract/http/permission-matrix.test.ts` calls every route by every',
    'column, and `test/long/http` as every kind of caller; the answers are compared with this table.',
    '',
    'People come by personal keys, and stand in the column of the role that they have at that moment; agents come by tokens and',
    'keys. What is an agent\'s own: itself, its keys, grants, executions and requests. What is a person\'s own: their account and',
    'keys, the audit entries that they made or that are about them, and the requests of agents that are theirs or their team\'s.',
    'Rules finer than this table (rank between people, separation of duties, levels of escalation) are answered by the routes',
    'themselves, with codes of their own.',
    '',
    '## At a glance',
    '',
    'R reads, W changes or acts; a small letter: only what is their own.',
    '',
    `| area | ${KINDS.join(' | ')} |`,
    `|---|${KINDS.map(() => '---').join('|')}|`,
    ...areasOf(keys, routes).map(([area, permissions]) => `| ${area} | ${KINDS.map((kind) => glance(permissions, kind)).join(' | ')} |`),
    '',
    '## Keys',
    '',
    `| key | allows to | ${KINDS.join(' | ')} |`,
    `|---|---|${KINDS.map(() => '---').join('|')}|`,
    ...keys.map(([key, permission]) => row(key, permission)),
    '',
    '## Routes of each key',
    '',
    '| key | routes |',
    '|---|---|',
    ...keys.map(([key]) => `| \`${key}\` | ${routesOf(routes.get(key))} |`),
    '',
    '## Notes',
    '',
    ...keys.flatMap(([key, { hot, late, onlyBy }]) => [
      ...(hot ? [`- \`${key}\`: the guard looks at the agent's token or key alone; agent, epoch and grant are judged by the commit.`] : []),
      ...(late ? [`- \`${key}\`: also takes an agent's token that has just expired, within \`AGENT_REFRESH_WINDOW\`.`] : []),
      ...(onlyBy ? [`- \`${key}\`: of an agent's credentials the ${onlyBy.credential} alone, else 403.`] : []),
    ]),
    '',
  ].join('\n');
}

/** Keys by their area, the part before the point. A key whose verb is a change may have a route that only reads, too. */
function areasOf(keys, routes) {
  const areas = new Map();
  for (const [key, permission] of keys) {
    if (permission.who.anonymous) continue;
    const [area, verb] = key.split('.');
    const changes = !READING.test(verb);
    const reads = !changes || routes.get(key)?.some((route) => route.startsWith('GET '));
    areas.set(area, [...(areas.get(area) ?? []), { reads, changes, ...permission }]);
  }
  return [...areas];
}

/** The widest reach that a kind has in an area, for reading and for changing. */
function glance(permissions, kind) {
  const letter = (does, name) => {
    const reaches = permissions.filter((one) => one[does]).map(({ who }) => who[kind]);
    return reaches.includes('all') ? name : reaches.includes('own') ? name.toLowerCase() : '';
  };
  return `${letter('reads', 'R')}${letter('changes', 'W')}`;
}

function row(key, { doc, who }) {
  const reach = KINDS.map((kind) => (who.anonymous ? 'open' : (who[kind] ?? '')));
  return `| \`${key}\` | ${doc} | ${reach.join(' | ')} |`;
}

function routesOf(routes = []) {
  return routes.map((route) => `\`${route}\``).join('<br>') || 'none yet';
}
