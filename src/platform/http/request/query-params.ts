import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
import type { Request } from 'express';
import type { JsonObject, JsonValue } from '../../../domain/json.js';
import { fieldsOf, type DtoClass, type FieldSpec } from '../fields/field-spec.js';
import { Problem, type FieldError } from '../reply/problem.js';
import { invalid, readMembers } from '../fields/read-members.js';

const MAX_PARAMETERS = 100;

/**
 * A query string as names and texts, decoded as forms are. Node's own parser turns broken escapes into U+FFFD and
 * repeated names into lists; both would reach a handler as something that the caller did not say.
 * @throws Problem 400
 */
export function parseQuery(query: string): Map<string, string> {
  const parameters = new Map<string, string>();
  const errors: FieldError[] = [];
  for (const part of query.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decoded(equals < 0 ? part : part.slice(0, equals));
    const value = decoded(equals < 0 ? '' : part.slice(equals + 1));
    if (name === undefined || value === undefined) throw malformed();
    if (value.includes('\0') || name.includes('\0')) errors.push({ pointer: `?${name}`, message: 'must not contain NUL' });
    if (parameters.has(name)) errors.push({ pointer: `?${name}`, message: 'is given twice; give it once' });
    parameters.set(name, value);
    if (parameters.size > MAX_PARAMETERS) throw new Problem('VALIDATION_FAILED', `Send at most ${MAX_PARAMETERS} parameters.`);
  }
  if (errors.length > 0) throw invalid(errors);
  return parameters;
}

function malformed(): Problem {
  return new Problem('VALIDATION_FAILED', 'The query string is not percent-encoded UTF-8.');
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

export interface QueryRules {
  /** Refuses names that the DTO does not know, where a narrowing that is not obeyed would give too much away. Others are ignored. */
  readonly onlyKnown?: boolean;
}

/** @throws Problem 400; pointers are `?limit`. */
export function readQuery<T extends object>(dto: DtoClass<T>, query: string, { onlyKnown = false }: QueryRules = {}): T {
  // Most calls have none, and validating nothing costs as much as validating something.
  if (query === '' && fieldsOf(dto).every((field) => field.optional)) return new dto();
  const parameters = parseQuery(query);
  if (onlyKnown) assertKnown(dto, [...parameters.keys()]);
  const values: JsonObject = {};
  for (const field of fieldsOf(dto)) {
    for (const name of field.names) {
      const text = parameters.get(name);
      if (text !== undefined) values[name] = textOf(field)(text) as JsonValue;
    }
  }
  const errors: FieldError[] = [];
  const read = readMembers(dto, values, '', errors);
  if (errors.length > 0) throw invalid(errors.map(({ pointer, message }) => ({ pointer: `?${pointer.slice(1)}`, message })));
  return read;
}

function assertKnown(dto: DtoClass, names: readonly string[]): void {
  const fields = fieldsOf(dto);
  const known = fields.map((field) => field.names[0]!).join(', ');
  const unknown = names.filter((name) => !fields.some((field) => field.names.includes(name)));
  if (unknown.length > 0) throw invalid(unknown.map((name) => ({ pointer: `?${name}`, message: `is not known here; known are ${known}` })));
}

function textOf(field: FieldSpec): (text: string) => unknown {
  return field.fromText ?? ((text) => text);
}

/** The query string of a request's target, without its question mark. */
export function queryOf(url: string): string {
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1);
}

const query = createParamDecorator(({ dto, rules }: { dto: DtoClass; rules: QueryRules }, context: ExecutionContext) =>
  readQuery(dto, queryOf(context.switchToHttp().getRequest<Request>().originalUrl), rules),
);

/** The request's query, read by the rules of a DTO whose members a text can express. Documents each parameter too. */
export function QueryParams(dto: DtoClass, rules: QueryRules = {}): ParameterDecorator {
  return (target, method, index) => {
    const descriptor = Object.getOwnPropertyDescriptor(target, method!)!;
    for (const field of fieldsOf(dto)) {
      if (field.document === undefined) continue;
      if (field.fromText === undefined) throw new Error(`${dto.name}.${field.property} cannot stand in a query`);
      ApiQuery({ name: field.names[0]!, required: !field.optional, ...field.document })(target, method!, descriptor);
    }
    query({ dto, rules })(target, method, index);
  };
}
