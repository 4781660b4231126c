import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { RULE } from '../../../src/platform/http/openapi/document/operation-ids.js';

// What clients, generators and pages rely on in the document of the interface. That it is what the routes declare,
// `npm run openapi -- --check` says; that others can read it, `npm run peers`.

type Json = Record<string, unknown>;

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly parameters: readonly { readonly $ref?: string; readonly in?: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Json>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Json>> }>>;
  readonly 'x-internal'?: true;
  readonly security: readonly Readonly<Record<string, unknown>>[];
}

const document = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly servers: readonly { readonly url: string }[];
  readonly components: { readonly schemas: Readonly<Record<string, Json>>; readonly securitySchemes: Json };
  readonly 'x-tagGroups': readonly { readonly name: string; readonly tags: readonly string[] }[];
};
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, ...operation })));
const schemas = document.components.schemas;

describe('operations', () => {
  test('have ids that read as calls, each its own', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(ids.filter((id) => !RULE.test(id) || /alias/i.test(id))).toEqual([]);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
    expect(ids).toEqual(expect.arrayContaining([
      'agents.register', 'agents.issueToken', 'grants.create', 'executions.execute', 'executions.report', 'hitl.list', 'hitl.approve',
      'hitl.stats', 'audit.export', 'audit.verify', 'stops.create', 'auth.me', 'users.eraseData',
    ]));
  });

  test('have a summary and one tag, which is described; the API comes first', () => {
    expect(operations.filter(({ summary, tags }) => !summary || tags.length !== 1)).toEqual([]);
    const described = document.tags.filter(({ description }) => description.length > 0).map(({ name }) => name);
    expect(new Set(operations.flatMap(({ tags }) => tags))).toEqual(new Set(described));
    expect(document['x-tagGroups'].flatMap(({ tags }) => tags)).toEqual(described);
    expect(described.slice(-2)).toEqual(['Pages and forms', 'Internal']);
  });

  test('that are not for programs, or not for everybody, are marked so', () => {
    const isInternal = ({ path }: { path: string }) => path.startsWith('/internal/');
    expect(operations.filter((one) => isInternal(one) !== (one.tags[0] === 'Internal' && one['x-internal'] === true))).toEqual([]);
    const isOfBrowsers = ({ path, requestBody }: Pick<Operation, 'requestBody'> & { path: string }) =>
      requestBody?.content['application/x-www-form-urlencoded'] !== undefined || !/^\/(?:api|internal|health|version)\b/.test(path) ||
      /\/auth\/(?:login|callback)$/.test(path);
    expect(operations.filter((one) => isOfBrowsers(one) !== (one.tags[0] === 'Pages and forms'))).toEqual([]);
  });

  test('say how their callers show who they are', () => {
    const known = Object.keys(document.components.securitySchemes);
    expect(known).toEqual(['bearer', 'rootKey', 'session']);
    const schemesOf = (id: string) => operations.find(({ operationId }) => operationId === id)?.security.flatMap((one) => Object.keys(one));
    expect(schemesOf('executions.report')).toEqual(['bearer', 'rootKey']);
    expect(schemesOf('hitl.approve')).toEqual(['bearer', 'rootKey', 'session']);
    expect(schemesOf('users.me')).toEqual(['bearer', 'session']);
    expect(schemesOf('health.check')).toEqual([]);
    expect(document.servers.map(({ url }) => url)).toEqual(['/']);
  });
});

describe('schemas', () => {
  /** Any value, or an object of unknown members, that nobody meant to be so. */
  function untyped(schema: unknown, place: string): string[] {
    if (typeof schema !== 'object' || schema === null) return [];
    if (Array.isArray(schema)) return schema.flatMap((one, at) => untyped(one, `${place}/${at}`));
    const { type, properties, additionalProperties, items, oneOf, anyOf, allOf, $ref, enum: words, description } = schema as Json;
    const combined = [oneOf, anyOf, allOf, $ref, words].some((one) => one !== undefined);
    const anything = type === undefined && !combined && !/\bany JSON value\b/i.test(String(description));
    const open = [type].flat().includes('object') && properties === undefined &&
      (additionalProperties === undefined || (additionalProperties === true && description === undefined));
    const openList = [type].flat().includes('array') && items === undefined && (schema as Json)['prefixItems'] === undefined;
    const inner = { ...(properties as Json), ...(typeof additionalProperties === 'object' ? { '*': additionalProperties } : {}),
      ...(items === undefined ? {} : { items }), oneOf, anyOf, allOf };
    return [
      ...(anything || open || openList ? [place] : []),
      ...Object.entries(inner).flatMap(([name, part]) => untyped(part, `${place}/${name}`)),
    ];
  }

  test('say what they hold, or that it is free', () => {
    expect(Object.entries(schemas).flatMap(([name, schema]) => untyped(schema, name))).toEqual([]);
    const bodies = operations.flatMap(({ operationId, requestBody, responses }) => {
      const contents = [requestBody, ...Object.values(responses)].map((one) => one?.content ?? {});
      return contents.flatMap((content) => Object.values(content).map(({ schema }) => [operationId, schema] as const));
    });
    expect(bodies.length).toBeGreaterThan(500);
    expect(bodies.flatMap(([id, schema]) => untyped(schema, id))).toEqual([]);
    // A document of which nothing is typed would pass the search, too, if the search were broken.
    const properties = { a: {}, b: { type: 'object' }, c: { type: 'array' } };
    expect(untyped({ type: 'object', properties }, 'x')).toEqual(['x/a', 'x/b', 'x/c']);
  });

  test('of an answer of the gate are told apart by its status', () => {
    const { oneOf, discriminator } = schemas['GateReply'] as {
      oneOf: { $ref: string }[]; discriminator: { propertyName: string; mapping: Record<string, string> };
    };
    expect(discriminator.propertyName).toBe('status');
    expect(Object.keys(discriminator.mapping)).toEqual(['executed', 'pending_hitl', 'blocked', 'failed', 'cancelled', 'dry_run']);
    expect(oneOf.map(({ $ref }) => $ref)).toEqual(Object.values(discriminator.mapping));
    for (const [status, ref] of Object.entries(discriminator.mapping)) {
      const { properties, required } = schemas[ref.split('/').at(-1)!] as { properties: Record<string, Json>; required: string[] };
      expect([status, properties['status']]).toEqual([status, { type: 'string', enum: [status] }]);
      expect(required).toContain('status');
    }
  });

  test('explain the modes and the words of a grant, once', () => {
    const explained = (name: string) => (schemas[name] as { enum: string[]; description: string });
    for (const name of ['HitlMode', 'GrantWord', 'TimeoutAction']) {
      const { enum: words, description } = explained(name);
      if (name !== 'GrantWord') for (const word of words) expect(description).toContain(`- \`${word}\`: `);
    }
    for (const word of ['never', 'always', 'on_risk']) expect(explained('GrantWord').description).toContain(`- \`${word}\`: `);
    expect(explained('GrantWord').description).toContain('- `never`: never ask.');
    const inPlaces = JSON.stringify(document).split('"on_risk"').length - 1;
    expect(inPlaces).toBe(1);
  });
});
