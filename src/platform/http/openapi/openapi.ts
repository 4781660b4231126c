import type { INestApplication } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { ApiExtension, ApiExtraModels, DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ACCESS, type AccessKey, type Permission } from '../../../domain/access/access.js';
import { PROBLEMS, type ProblemCode } from '../../../domain/problems.js';
import { ACCESS_KEY } from '../../auth/access/access.decorator.js';
import { withoutFalseTypes, withPlainReferences } from '../fields/any-json.js';
import { namedSchemasOf } from '../fields/named-schema.js';
import { ALWAYS_DECLARED, PROBLEM_CODES_EXTENSION, problemFormOf } from '../reply/replies.js';
import { takesOwnPagesOnly } from '../request/browser-routes.js';
import { HEADER_PARAMETERS, type HeaderParameter, headersOf, REPLY_HEADERS } from './document/call-headers.js';
import { operationIdOf, OperationIds } from './document/operation-ids.js';
import { SECURITY_SCHEMES, securityOf } from './document/security.js';
import { INTERNAL_TAG, TAG_GROUPS, TAGS } from './document/tags.js';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']> & Record<string, unknown>;
type Schema = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const ACCESS_EXTENSION = 'x-access';
/** Carries the names of an operation's headers to the document's builder. */
const HEADERS_EXTENSION = 'x-headers';
const OWN_PAGES_EXTENSION = 'x-own-pages';
/** The name of the schema that refusals have instead of a problem's. */
const FORM_EXTENSION = 'x-problem-form';

/**
 * The API as an OpenAPI 3.1 document, made from the routes' own declarations.
 * @throws Error for an operation that clients made from the document could not call by a name of its own, or that has no group
 */
export function buildOpenApi(app: INestApplication): OpenAPIObject {
  declareOfHandlers(app);
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Countersign')
    .setDescription('One gate for what software agents do: run it, ask a person, or refuse; and record it, provably.')
    .setVersion('v1')
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer('/', 'The server that this document comes from. Where `npm start` runs it: http://localhost:3000.')
    .build();
  const document = SwaggerModule.createDocument(app, config, { autoTagControllers: false, operationIdFactory: operationIdOf });
  const ids = new OperationIds();
  const used = new Set<string>();
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      const operation = item[method] as Operation | undefined;
      if (operation === undefined) continue;
      ids.add(operation.operationId, `${method} ${path}`);
      used.add(finish(operation, path, method));
    }
  }
  document.tags = TAGS.filter(({ name }) => used.has(name));
  const groups = TAG_GROUPS.map(({ name, tags }) => ({ name, tags: tags.filter((tag) => used.has(tag)) }));
  withoutFalseTypes(document.components?.schemas ?? {});
  document.components = {
    ...document.components,
    schemas: { ...document.components?.schemas, ...(namedSchemasOf(document) as Record<string, Schema>), Problem: problemSchema() },
    parameters: HEADER_PARAMETERS,
    headers: REPLY_HEADERS,
    securitySchemes: SECURITY_SCHEMES,
  };
  return Object.assign(withPlainReferences(document), { 'x-tagGroups': groups.filter(({ tags }) => tags.length > 0) });
}

/** Adds to Swagger's description of each route what the access table and the pipeline say of it. */
function declareOfHandlers(app: INestApplication): void {
  for (const module of app.get(ModulesContainer, { strict: false }).values()) {
    for (const { metatype } of module.controllers.values()) {
      if (typeof metatype !== 'function') continue;
      const prototype = metatype.prototype as object;
      for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
        if (typeof descriptor.value !== 'function') continue;
        const handler = descriptor.value as object;
        const key = Reflect.getMetadata(ACCESS_KEY, handler) as AccessKey | undefined;
        if (key !== undefined) ApiExtension(ACCESS_EXTENSION, key)(prototype, name, descriptor);
        ApiExtension(HEADERS_EXTENSION, headersOf(handler))(prototype, name, descriptor);
        if (takesOwnPagesOnly(handler)) ApiExtension(OWN_PAGES_EXTENSION, true)(prototype, name, descriptor);
        const form = problemFormOf(metatype);
        if (form === undefined) continue;
        ApiExtraModels(form)(prototype, name, descriptor);
        ApiExtension(FORM_EXTENSION, form.name)(prototype, name, descriptor);
      }
    }
  }
}

/** Adds what no decorator of a single route knows. @returns the operation's tag */
function finish(operation: Operation, path: string, method: (typeof METHODS)[number]): string {
  const permission: Permission | undefined = ACCESS[operation[ACCESS_EXTENSION] as AccessKey];
  const anonymous = permission?.who.anonymous !== undefined;
  const declared = (operation[PROBLEM_CODES_EXTENSION] as ProblemCode[] | undefined) ?? [];
  const codes: ProblemCode[] = operation[OWN_PAGES_EXTENSION] === true ? [...declared, 'FORBIDDEN'] : declared;
  const form = operation[FORM_EXTENSION] as string | undefined;
  for (const extension of [PROBLEM_CODES_EXTENSION, OWN_PAGES_EXTENSION, FORM_EXTENSION]) delete operation[extension];
  addHeaders(operation);
  operation.security = securityOf(permission);
  if (permission !== undefined && !anonymous) {
    const who = Object.entries(permission.who).map(([kind, reach]) => (reach === 'own' ? `${kind} (its own)` : kind));
    const line = `Who: ${who.join(', ')}.`;
    operation.description = operation.description ? `${operation.description}\n\n${line}` : line;
  }
  addProblems(operation, path, { codes, anonymous, form, mayHaveBody: method !== 'get' });
  const tag = operation.tags?.[0];
  if (!TAGS.some(({ name }) => name === tag)) throw new Error(`${operation.operationId} has the tag ${tag}, which no group has`);
  if (tag === INTERNAL_TAG) operation['x-internal'] = true;
  return tag!;
}

function addHeaders(operation: Operation): void {
  const names = (operation[HEADERS_EXTENSION] as HeaderParameter[] | undefined) ?? [];
  delete operation[HEADERS_EXTENSION];
  const parameters = names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
  operation.parameters = [...(operation.parameters ?? []), ...parameters];
  if (!names.includes('IdempotencyKey')) return;
  for (const [status, response] of Object.entries(operation.responses)) {
    if (!status.startsWith('2')) continue;
    Object.assign(response!, { headers: { 'Idempotent-Replayed': { $ref: '#/components/headers/IdempotentReplayed' } } });
  }
}

interface Refusals {
  readonly codes: readonly ProblemCode[];
  readonly anonymous: boolean;
  readonly form: string | undefined;
  /** Whoever sends one that a route does not take hears of it, too. */
  readonly mayHaveBody: boolean;
}

/** Of whoever says who they are; of people whose tier no longer lets them in, too. */
const OF_CALLERS: readonly ProblemCode[] = ['UNAUTHENTICATED', 'FORBIDDEN', 'AGENT_INACTIVE', 'TIER_REQUIRED'];

function asksForOrganization({ parameters = [] }: Operation): boolean {
  return parameters.some((parameter) => 'name' in parameter && parameter.name === 'organizationId');
}

function addProblems(operation: Operation, path: string, { codes: declared, anonymous, form, mayHaveBody }: Refusals): void {
  const always = [...ALWAYS_DECLARED].filter((code) => {
    if (OF_CALLERS.includes(code)) return !anonymous;
    if (code === 'BODY_TOO_LARGE' || code === 'UNSUPPORTED_MEDIA_TYPE') return mayHaveBody;
    // A body or a filter may name what is not there, too.
    if (code === 'NOT_FOUND') return path.includes('{') || operation.requestBody !== undefined || asksForOrganization(operation);
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
      content: form === undefined
        ? { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } }
        : { 'application/json': { schema: { $ref: `#/components/schemas/${form}` } } },
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
