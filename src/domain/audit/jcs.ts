import canonicalize from 'canonicalize';

/** Far above the 64 levels that a body may have; below what overflows a stack. */
const MAX_DEPTH = 256;
const LONE_SURROGATE = /[\uD800-\uDFFF]/u;
/** Text that stands between quotes as it is: printable ASCII without quote and backslash. Most ids, codes and words are. */
const NEEDS_NO_ESCAPE = /^[ !#-[\]-~]*$/;

/** A value without a canonical form is a bug of the caller: outside input is checked when it is read. */
function notCanonical(what: string): TypeError {
  return new TypeError(`no canonical form: ${what}`);
}

/**
 * The canonical text of a JSON value (RFC 8785). Throws a `TypeError` for what JSON cannot say exactly: undefined,
 * functions, NaN, infinities, big integers, lone surrogates, cycles and class instances. The library beneath drops or nulls
 * some of these without a word, and a hash over what was dropped would vouch for something nobody wrote.
 */
export function jcs(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return jcsString(value);
    case 'number':
      return jcsNumber(value);
    case 'boolean':
      return value ? 'true' : 'false';
    default:
      check(value, 0);
      return canonicalize(value) as string;
  }
}

/** The canonical text of a string: RFC 8785 takes the escapes of ECMAScript's `JSON.stringify`. */
export function jcsString(text: string): string {
  if (NEEDS_NO_ESCAPE.test(text)) return `"${text}"`;
  if (LONE_SURROGATE.test(text)) throw notCanonical('a lone surrogate');
  return JSON.stringify(text);
}

function jcsNumber(value: number): string {
  if (!Number.isFinite(value)) throw notCanonical(String(value));
  return JSON.stringify(value);
}

function check(value: unknown, depth: number): void {
  switch (typeof value) {
    case 'string':
      if (LONE_SURROGATE.test(value)) throw notCanonical('a lone surrogate');
      return;
    case 'number':
      if (!Number.isFinite(value)) throw notCanonical(String(value));
      return;
    case 'boolean':
      return;
    case 'object':
      checkContainer(value, depth);
      return;
    default:
      throw notCanonical(typeof value);
  }
}

function checkContainer(value: object | null, depth: number): void {
  if (value === null) return;
  if (depth >= MAX_DEPTH) throw notCanonical('too deep, or a cycle');
  if (Array.isArray(value)) {
    // By index: forEach would step over the holes of a sparse array.
    for (let i = 0; i < value.length; i++) check(value[i], depth + 1);
    return;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw notCanonical('an instance of a class');
  const members = value as Record<string, unknown>;
  for (const key of Object.keys(members)) {
    if (LONE_SURROGATE.test(key)) throw notCanonical('a lone surrogate');
    check(members[key], depth + 1);
  }
}
