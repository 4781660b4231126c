import { CountersignError } from './errors.js';

/** As the service reads bodies: no deeper. */
const DEPTH = 64;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/**
 * The text of a body. Members of the body itself that are undefined are left out; anything deeper that is no I-JSON (RFC 7493), which
 * `JSON.stringify` would drop or change without a word, is thrown before anything is sent.
 * @throws CountersignError VALIDATION_FAILED with the pointer, as the service would
 */
export function bodyText(body: Readonly<Record<string, unknown>>): string {
  const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
  check(given, '', []);
  return JSON.stringify(given);
}

function check(value: unknown, pointer: string, above: readonly object[]): void {
  if (value === null || typeof value === 'boolean') return;
  if (typeof value === 'string') return checkText(value, pointer);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) refuse(pointer, `${value} is no JSON`);
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) refuse(pointer, 'must be within ±9007199254740991; send it as a string');
    return;
  }
  if (typeof value !== 'object') return refuse(pointer, `${typeof value} is no JSON`);
  if (above.includes(value)) refuse(pointer, 'holds itself');
  if (above.length >= DEPTH) refuse(pointer, `is nested deeper than ${DEPTH} levels`);
  const within = [...above, value];
  if (Array.isArray(value)) {
    // By index: a hole in an array is undefined.
    for (let index = 0; index < value.length; index++) check(value[index], `${pointer}/${index}`, within);
    return;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) refuse(pointer, 'must be a plain object; send what it should say');
  for (const [name, member] of Object.entries(value)) {
    const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (name === '__proto__') refuse(at, 'is no name of a member');
    checkText(name, at);
    check(member, at, within);
  }
}

function checkText(text: string, pointer: string): void {
  if (LONE_SURROGATE.test(text)) refuse(pointer, 'holds half of a surrogate pair');
  if (text.includes('\0')) refuse(pointer, 'holds a NUL');
}

function refuse(pointer: string, message: string): never {
  throw new CountersignError('VALIDATION_FAILED', { detail: `${pointer || 'The body'}: ${message}.`, errors: [{ pointer, message }] });
}
