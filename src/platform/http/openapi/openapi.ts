import type { INestApplication } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { ApiExtension, DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ACCESS, type AccessKey, type Permission } from '../../../domain/access/access.js';
import { PROBLEMS, type ProblemCode } from '../../../domain/problems.js';
import { ACCESS_KEY } from '../../auth/access/access.decorator.js';
import { withoutFalseTypes } from '../fields/any-json.js';
import { ALWAYS_DECLARED, PROBLEM_CODES_EXTENSION } from '../reply/replies.js';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']> & Record<string, unknown>;
type Schema = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const ACCESS_EXTENSION = 'x-access';

/** Areas of the interface in the order in which they are shown, by the first segment of the path. */
const AREAS: readonly [segments: readonly string[], tag: string][] = [
  [['agents'], 'Agents'],
  [['node'], 'Node protocol'],
  [['capabilities'], 'Capabilities'],
  [['execute', 'executions'], 'Execution'],
  [['hitl'], 'Human in the loop'],
  [['audit'], 'Audit'],
  [['teams'], 'Teams'],
  [['routing', 'tasks'], 'Routing'],
  [['notifications'], 'Notifications'],
  [['llm'], 'LLM gateway'],
  [['users', 'keys', 'organizations', 'organization', 'invitations', 'stops', 'secrets', 'settings'], 'Organization'],
  [['health', 'metrics'], 'Operation'],
];

/**
 * The API as an OpenAPI 3.1 document, made from the routes' own declarations.
 * @throws Error when two routes would have one operationId: clients made from the document could not distinguish them.
 */
export function buildOpenApi(app: INestApplication): OpenAPIObject {
  declareAccess(app);
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Countersign')
    .setDescription('One gate for what software agents do: run it, ask a person, or refuse; and record it, provably.')
    .setVersion('v1')
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'The root key, an agent token or key, or a personal key.' }, 'bearer')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The root key only.' }, 'rootKey')
    .build();
  const document = SwaggerModule.createDocument(app, config, {
    autoTagControllers: false,
    operationIdFactory: (controller, method) => operationId(controller, method),
  });
  const known = new Map<string, string>();
  const used = new Set<string>();
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      const operation = item[method] as Operation | undefined;
      if (operation === undefined) continue;
      const { operationId: id } = operation;
      const other = known.get(id!);
      if (other !== undefined) throw new Error(`${method} ${path} and ${other} both have the operationId ${id}`);
      known.set(id!, `${method} ${path}`);
      used.add(finish(operation, path));
    }
  }
  document.tags = AREAS.map(([, name]) => ({ name })).filter(({ name }) => used.has(name));
  withoutFalseTypes(document.components?.schemas ?? {});
  document.components = { ...document.components, schemas: { ...document.components?.schemas, Problem: problemSchema() } };
  return document;
}

/** `AgentsController.list` is `agentsList`; a second path of the same handler has its number at the end. */
function operationId(controller: string, method: string): string {
  const [, name = method, index = ''] = /^(.+?)(?:\[(\d+)])?$/.exec(method) ?? [];
  const area = controller.replace(/Controller$/, '');
  const suffix = index === '' || index === '0' ? '' : `Alias${index === '1' ? '' : index}`;
  return `${area.charAt(0).toLowerCase()}${area.slice(1)}${name.charAt(0).toUpperCase()}${name.slice(1)}${suffix}`;
}

/** Adds to Swagger's description of each route what the access table says of it. */
function declareAccess(app: INestApplication): void {
  for (const module of app.get(ModulesContainer, { strict: false }).values()) {
    for (const { metatype } of module.controllers.values()) {
      if (typeof metatype !== 'function') continue;
      const prototype = metatype.prototype as object;
      for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
        if (typeof descriptor.value !== 'function') continue;
        const key = Reflect.getMetadata(ACCESS_KEY, descriptor.value as object) as AccessKey | undefined;
        if (key !== undefined) ApiExtension(ACCESS_EXTENSION, key)(prototype, name, descriptor);
      }
    }
  }
}

/** Adds what no decorator of a single route knows. @returns the operation's tag */
function finish(operation: Operation, path: string): string {
  const permission: Permission | undefined = ACCESS[operation[ACCESS_EXTENSION] as AccessKey];
  const anonymous = permission?.who.anonymous !== undefined;
  const codes = (operation[PROBLEM_CODES_EXTENSION] as ProblemCode[] | undefined) ?? [];
  delete operation[PROBLEM_CODES_EXTENSION];
  operation.security = anonymous ? [] : [{ bearer: [] }, { rootKey: [] }];
  if (permission !== undefined && !anonymous) {
    const who = Object.entries(permission.who).map(([kind, reach]) => (reach === 'own' ? `${kind} (its own)` : kind));
    const line = `Who: ${who.join(', ')}.`;
    operation.description = operation.description ? `${operation.description}\n\n${line}` : line;
  }
  addProblems(operation, path, codes, anonymous);
  const tag = operation.tags?.[0] ?? tagOf(path);
  operation.tags = [tag];
  return tag;
}

function tagOf(path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== 'api' && !/^v\d+$/.test(segment));
  if (segments[0] === 'internal') return 'Internal';
  return AREAS.find(([names]) => names.includes(segments[0] ?? ''))?.[1] ?? 'Other';
}

function addProblems(operation: Operation, path: string, declared: readonly ProblemCode[], anonymous: boolean): void {
  const always = [...ALWAYS_DECLARED].filter((code) => {
    if (code === 'UNAUTHENTICATED' || code === 'FORBIDDEN' || code === 'AGENT_INACTIVE') return !anonymous;
    if (code === 'BODY_TOO_LARGE' || code === 'UNSUPPORTED_MEDIA_TYPE') return operation.requestBody !== undefined;
    // A body may name what is not there, too.
    if (code === 'NOT_FOUND') return path.includes('{') || operation.requestBody !== undefined;
    // 400 is for whoever sends what a route does not take, so every route has it.
    return code === 'RATE_LIMITED' ? !path.startsWith('/health') : true;
  });
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of new Set([...always, ...declared])) {
    const { status } = PROBLEMS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  for (const [status, codes] of byStatus) {
    operation.responses[status] = {
      description: codes.map((code) => `\`${code}\` ${PROBLEMS[code].title}`).join('; '),
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      ...(codes.includes('RATE_LIMITED') ? { headers: RATE_HEADERS } : {}),
    };
  }
}

const RATE_HEADERS = {
  'Retry-After': { description: 'Seconds until the window ends.', schema: { type: 'integer', minimum: 1 } },
  RateLimit: {
    description: 'Which limit, calls that are left, and seconds until its window ends. Every counted answer says it.',
    schema: { type: 'string', example: '"principal";r=0;t=42' },
  },
  'RateLimit-Policy': {
    description: 'Which limit, calls in a window, and its length in seconds.',
    schema: { type: 'string', example: '"principal";q=6000;w=60' },
  },
} as const;

function problemSchema(): Schema {
  return {
    type: 'object',
    description: 'RFC 9457. `code` is the member to decide by; some codes add members of their own.',
    required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'requestId'],
    properties: {
      type: { type: 'string', format: 'uri-reference', example: '/docs/errors#validation-failed' },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string' },
      instance: { type: 'string', format: 'uri-reference' },
      code: { type: 'string', enum: Object.keys(PROBLEMS) },
      requestId: { type: 'string' },
      errors: {
        type: 'array',
        items: {
          type: 'object',
          required: ['pointer', 'message'],
          properties: {
            pointer: { type: 'string', description: 'RFC 6901 from the root of the body, or `?name` for the query.' },
            message: { type: 'string' },
          },
        },
      },
    },
    additionalProperties: true,
  };
}
