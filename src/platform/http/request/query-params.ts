import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
import type { Request } from 'express';
import type { JsonObject, JsonValue } from '../../../domain/json.js';
import { isForBrowsers } from './browser-routes.js';
import { declareInput, inputOf } from './declared-input.js';
import { prefersLenience } from './prefer.js';
import { fieldsByName, fieldsOf, type DtoClass } from '../fields/field-spec.js';
import { Problem, type FieldError } from '../reply/problem.js';
import { invalid, readMembers, type ReadingRules } from '../fields/read-members.js';

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

/** @throws Problem 400; pointers are `?limit`. */
export function readQuery<T extends object>(dto: DtoClass<T>, query: string, rules: ReadingRules = {}): T {
  // Most calls have none, and validating nothing costs as much as validating something.
  if (query === '' && fieldsOf(dto).every((field) => field.optional)) return new dto();
  const fields = fieldsByName(dto);
  // Without a prototype, so that no name of a caller's can be one of its members.
  const values = Object.create(null) as JsonObject;
  for (const [name, text] of parseQuery(query)) values[name] = (fields.get(name)?.fromText?.(text) ?? text) as JsonValue;
  const errors: FieldError[] = [];
  const read = readMembers(dto, values, '', errors, rules);
  if (errors.length > 0) throw invalid(errors.map(({ pointer, message }) => ({ pointer: `?${pointer.slice(1)}`, message })));
  return read;
}

/** The query string of a request's target, without its question mark. */
export function queryOf(url: string): string {
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1);
}

const query = createParamDecorator((dto: DtoClass, context: ExecutionContext) => {
  const request = context.switchToHttp().getRequest<Request>();
  const text = queryOf(request.originalUrl);
  if (text === '') return readQuery(dto, text);
  const handler = context.getHandler();
  const other = { is: 'body', dto: inputOf(handler).body } as const;
  return readQuery(dto, text, { lenient: isForBrowsers(handler) || prefersLenience(request), other });
});

/** The request's query, read by the rules of a DTO whose members a text can express. Documents each parameter too. */
export function QueryParams(dto: DtoClass): ParameterDecorator {
  return (target, method, index) => {
    ReadsQuery(dto)(target, method!, Object.getOwnPropertyDescriptor(target, method!)!);
    query(dto)(target, method, index);
  };
}

/** Declares and documents the query of a handler that reads it by itself. */
export function ReadsQuery(dto: DtoClass): MethodDecorator {
  return (target, method, descriptor) => {
    for (const field of fieldsOf(dto)) {
      if (field.document === undefined) continue;
      if (field.fromText === undefined) throw new Error(`${dto.name}.${field.property} cannot stand in a query`);
      ApiQuery({ name: field.names[0]!, required: !field.optional, ...field.document })(target, method, descriptor);
    }
    declareInput(target, method, { query: dto });
  };
}
