import 'reflect-metadata';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import type { ProblemCode } from '../../../domain/problems.js';
import type { DtoClass } from '../fields/field-spec.js';
import type { NamedSchema } from '../fields/named-schema.js';

/** Extension of an operation that carries its codes to the document's builder, which turns them into responses. */
export const PROBLEM_CODES_EXTENSION = 'x-problem-codes';

/** What every route may answer without saying so: they come from what stands before and around it. */
export const ALWAYS_DECLARED: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'VALIDATION_FAILED', 'UNAUTHENTICATED', 'FORBIDDEN', 'AGENT_INACTIVE', 'NOT_FOUND', 'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE',
  'TIER_REQUIRED', 'RATE_LIMITED', 'INTERNAL', 'UNAVAILABLE',
]);

export interface DeclaredReplies {
  /** The first is the status of a plain body. */
  readonly statuses: readonly number[];
  readonly codes: readonly ProblemCode[];
}

/** Where @nestjs/swagger keeps an operation's extensions. */
const EXTENSIONS = 'swagger/apiExtension';

const declarations = new WeakMap<object, DeclaredReplies>();

/**
 * Declares what a route answers: its status, the form of its body (null: none) and its problem codes. A route with
 * several successes declares each on a line of its own; the uppermost is the status of a plain body.
 */
export function Replies(status: number, body: DtoClass | NamedSchema | null, ...codes: ProblemCode[]): MethodDecorator {
  return (target, key, descriptor) => {
    const handler = descriptor.value as object;
    const before = declarations.get(handler);
    const all = [...new Set([...codes, ...(before?.codes ?? [])])];
    declarations.set(handler, { statuses: [status, ...(before?.statuses ?? [])], codes: all });
    const description = DESCRIPTIONS[status] ?? '';
    if (body === null) ApiResponse({ status, description })(target, key, descriptor);
    else if (typeof body === 'function') ApiResponse({ status, description, type: body })(target, key, descriptor);
    else {
      ApiExtraModels(...body.forms)(target, key, descriptor);
      ApiResponse({ status, description, schema: { $ref: getSchemaPath(body.name) } })(target, key, descriptor);
    }
    // ApiExtension keeps what the lower of two declarations said; the uppermost knows all.
    const extensions = Reflect.getMetadata(EXTENSIONS, handler) as Record<string, unknown> | undefined;
    Reflect.defineMetadata(EXTENSIONS, { ...extensions, [PROBLEM_CODES_EXTENSION]: all }, handler);
  };
}

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  200: 'Done.',
  201: 'Made.',
  202: 'Taken on; a person has to decide, or it is still running.',
  204: 'Done; there is nothing to say.',
  302: 'Continue there.',
  303: 'Done; continue there.',
};

const PROBLEM_FORM = 'countersign:problem-form';

/** Declares that the refusals of a controller's routes have this form instead of a problem's: that of clients of other people. */
export const RefusesAs = (form: DtoClass): ClassDecorator => (target) => Reflect.defineMetadata(PROBLEM_FORM, form, target);

export function problemFormOf(controller: object): DtoClass | undefined {
  return Reflect.getMetadata(PROBLEM_FORM, controller) as DtoClass | undefined;
}

export function declaredReplies(handler: object): DeclaredReplies | undefined {
  return declarations.get(handler);
}

/** Whether a route may answer with this code. A route that declares nothing may answer only what all may. */
export function mayAnswer(handler: object, code: ProblemCode): boolean {
  return ALWAYS_DECLARED.has(code) || (declarations.get(handler)?.codes.includes(code) ?? false);
}

/** An answer whose status or headers the handler chooses. A handler that returns anything else answers with that as body. */
export class Reply<Body> {
  constructor(
    readonly status: number,
    readonly body: Body,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}
}

export function reply<Body>(status: number, body: Body, headers?: Readonly<Record<string, string>>): Reply<Body> {
  return new Reply(status, body, headers);
}
