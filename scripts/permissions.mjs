// Writes docs/permissions.md from the access table and the routes that name its keys; with --check fails when the committed
// page says something else. The routes are those of openapi.json, which has a check of its own.
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import process from 'node:process';

const PAGE = new URL('../docs/permissions.md', import.meta.url);
const TABLE = new URL('../dist/src/domain/access/access.js', import.meta.url);
const ROUTES = new URL('../openapi.json', import.meta.url);

/** In the order of the columns. `anonymous` has none: a key that names it is open to everyone. */
const KINDS = ['root', 'owner', 'admin', 'member', 'viewer', 'agent', 'internal'];

if (!existsSync(TABLE)) {
  console.error('There is no build to read the access table from. Run `npm run build` first.');
  process.exit(1);
}

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
    "**all**: everything in the caller's organizations (for root, in every one). **own**: what is the caller's own; another's",
    'is not there for it (404). Empty: 403. A route names exactly one key; the server does not start with one that names none.',
    '',
    'The columns of people and of `internal` speak of accounts that this build does not have yet: the only credentials that',
    "it knows are the root key and agents' tokens.",
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
    ...keys.flatMap(([key, { hot, late }]) => [
      ...(hot ? [`- \`${key}\`: the guard checks an agent's token alone; agent, epoch and grant are judged where the call commits.`] : []),
      ...(late ? [`- \`${key}\`: also takes an agent's token that has just expired, within \`AGENT_REFRESH_WINDOW\`.`] : []),
    ]),
    '',
  ].join('\n');
}

function row(key, { doc, who }) {
  const reach = KINDS.map((kind) => (who.anonymous ? 'open' : (who[kind] ?? '')));
  return `| \`${key}\` | ${doc} | ${reach.join(' | ')} |`;
}

function routesOf(routes = []) {
  return routes.map((route) => `\`${route}\``).join('<br>') || 'none yet';
}
