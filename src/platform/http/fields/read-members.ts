import { isDeepStrictEqual } from 'node:util';
import { validateSync } from 'class-validator';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json.js';
import { fieldsOf, type DtoClass, type FieldSpec } from './field-spec.js';
import { childPointer } from '../request/json-pointer.js';
import { Problem, type FieldError } from '../reply/problem.js';
import { type OtherPart, refuseUnknown } from './unknown-names.js';

/** More would be noise: who sends a thousand bad items learns enough from the first fifty. */
const MAX_ERRORS = 50;

export interface ReadingRules {
  /** Names that the DTO does not know are ignored, at any depth. */
  readonly lenient?: boolean;
  readonly other?: OtherPart;
}

/** @throws Problem 400 with one entry per member that is not as it must be, or that the DTO does not know. */
export function readBody<T extends object>(dto: DtoClass<T>, body: JsonValue, rules: ReadingRules = {}): T {
  const errors: FieldError[] = [];
  const value = isJsonObject(body)
    ? readMembers(dto, body, '', errors, rules)
    : (errors.push({ pointer: '', message: 'must be a JSON object' }), undefined);
  if (errors.length > 0) throw invalid(errors);
  return value as T;
}

/** The one form in which a request is refused for its members; also for validators written by hand. */
export function invalid(errors: FieldError[]): Problem {
  const [first] = errors;
  const detail =
    errors.length === 1 && first !== undefined
      ? `${first.pointer === '' ? 'The body' : first.pointer} ${first.message}`.replace(/[^?]$/, '$&.')
      : `${errors.length} members are not as they must be; errors names them.`;
  return new Problem('VALIDATION_FAILED', detail, { errors: errors.slice(0, MAX_ERRORS) });
}

/**
 * Reads the declared members of an object into a DTO: each by any of its names, checked by class-validator, converted.
 * Only what the class declares is taken, so nothing else can be assigned; free objects are taken by reference.
 * Whatever else there is is an error, unless the caller asked for lenience. Errors point at the name that the caller used.
 */
export function readMembers<T extends object>(
  dto: DtoClass<T>, from: JsonObject, pointer: string, errors: FieldError[], { lenient = false, other }: ReadingRules,
): T {
  const target = new dto();
  const meant = lenient ? undefined : refuseUnknown(dto, from, pointer, errors, other);
  const used = new Map<string, string>();
  const failed = new Set<string>();
  const fields = fieldsOf(dto);
  for (const field of fields) {
    const { name, error } = pick(field, from);
    used.set(field.property, name);
    if (error !== undefined) {
      failed.add(field.property);
      if (!meant?.has(field.property)) errors.push({ pointer: childPointer(pointer, name), message: error });
    } else if (Object.hasOwn(from, name) && !(from[name] === null && field.onNull === 'leave')) {
      Reflect.set(target, field.property, from[name]);
    }
  }
  for (const { property, message } of check(target)) {
    if (failed.has(property)) continue;
    failed.add(property);
    errors.push({ pointer: childPointer(pointer, used.get(property) ?? property), message });
  }
  for (const field of fields) {
    if (!failed.has(field.property)) finish(field, target, childPointer(pointer, used.get(field.property)!), errors, { lenient });
  }
  return target;
}

/** The name by which a member is given, and what is wrong with how it is given. Its value is not looked at. */
function pick(field: FieldSpec, from: JsonObject): { name: string; error?: string } {
  const [documented = field.property] = field.names;
  const given = field.names.filter((name) => Object.hasOwn(from, name));
  const [name, ...more] = given;
  if (name === undefined) {
    return field.optional ? { name: documented } : { name: documented, error: `is required: it must be ${field.expected}` };
  }
  if (field.notYet !== undefined) return { name, error: `is not supported yet; leave it out (${field.notYet})` };
  const other = more.find((second) => !isDeepStrictEqual(from[second], from[name]));
  return other === undefined ? { name } : { name: other, error: `says something else than ${name}; give one of the two` };
}

function check(target: object): { property: string; message: string }[] {
  const found = validateSync(target, { forbidUnknownValues: false, validationError: { target: false, value: false } });
  return found.map(({ property, constraints = {} }) => ({ property, message: Object.values(constraints)[0] ?? 'is not valid' }));
}

/** Nested objects and conversions, once the value itself has been accepted. */
function finish(field: FieldSpec, target: object, pointer: string, errors: FieldError[], rules: ReadingRules): void {
  const value: unknown = Reflect.get(target, field.property);
  if (value === undefined || value === null) return;
  if (field.convert !== undefined) Reflect.set(target, field.property, field.convert(value));
  if (field.nested === undefined) return;
  const dto = field.nested.dto();
  const read = field.nested.list
    ? (value as JsonObject[]).map((item, index) => readMembers(dto, item, childPointer(pointer, index), errors, rules))
    : readMembers(dto, value as JsonObject, pointer, errors, rules);
  Reflect.set(target, field.property, read);
}
