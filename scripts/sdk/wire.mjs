// The types of @countersign/sdk (sdk/src/wire.ts), made of the API document by @hey-api/openapi-ts, which stands in test/peers. Generated
// is what a client calls: operations that answer JSON or nothing. How refusals look is said once, by `Problem`, and headers by the client.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

const GENERATOR = join(import.meta.dirname, '../../test/peers/node_modules/@hey-api/openapi-ts/bin/run.js');
const HEAD = '// Made of openapi.json by `npm run openapi`, which says what to change instead of this file.\n';
const CALLED = /^\/(api\/v1|internal\/v1|health)\b/;
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** @param {object} document openapi.json */
export function wireTypes(document) {
  const operations = operationsOf(document);
  const map = operations.map(({ name, operationId }) => {
    const type = typeName(operationId);
    return `    '${name}': { data: ${type}Data; replies: ${type}Responses };`;
  });
  const closing = ['/**', ' * Every operation by its method and path: what it takes, and what it answers by status.', ' */',
    'export interface Operations {', ...map, '}', ''].join('\n');
  return `${HEAD}${generated(reduced(document, operations)).replace(/^\/\/.*\n/, '')}\n${closing}`;
}

/** As @hey-api/openapi-ts names an operation's types. */
const typeName = (operationId) => operationId.replace(/(?:^|\.)(\w)/g, (_, first) => first.toUpperCase());

function operationsOf({ paths }) {
  const called = Object.entries(paths).filter(([path]) => CALLED.test(path));
  return called.flatMap(([path, item]) => METHODS.filter((method) => isCall(item[method]))
    .map((method) => ({ path, method, name: `${method.toUpperCase()} ${path}`, operationId: item[method].operationId })));
}

/** Answers JSON or 204: no page, no file, no stream. */
function isCall(operation) {
  const good = Object.entries(operation?.responses ?? {}).filter(([status]) => status.startsWith('2'));
  return good.length > 0 && good.every(([status, { content }]) =>
    (content === undefined ? status === '204' : Object.keys(content).join() === 'application/json'));
}

function reduced(document, operations) {
  const paths = {};
  for (const { path, method } of operations) {
    const operation = document.paths[path][method];
    const responses = Object.fromEntries(Object.entries(operation.responses).filter(([status]) => status.startsWith('2')));
    const parameters = operation.parameters?.filter(({ in: place }) => place === 'path' || place === 'query');
    (paths[path] ??= {})[method] = { ...operation, responses, parameters };
  }
  const { parameters: _, headers, ...components } = document.components;
  return { ...document, paths, components: { ...components, headers } };
}

function generated(document) {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-wire-'));
  try {
    const [input, output, config] = ['document.json', 'out', 'config.json'].map((name) => join(folder, name));
    writeFileSync(input, JSON.stringify(document));
    writeFileSync(config, JSON.stringify({ input, output, plugins: ['@hey-api/typescript'] }));
    const made = spawnSync(process.execPath, [GENERATOR, '-f', config, '--no-log-file', '--silent'],
      { cwd: folder, encoding: 'utf8', env: { ...process.env, CI: 'true' } });
    if (made.status !== 0) throw new Error(`The types of the SDK could not be made:\n${made.stdout}${made.stderr}`);
    return readFileSync(join(output, 'types.gen.ts'), 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
