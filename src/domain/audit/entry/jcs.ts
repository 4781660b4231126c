import { MAX_DEPTH } from '../../json.js';

const LONE_SURROGATE = /[\uD800-\uDFFF]/u;
/** Text that stands between quotes as it is: printable ASCII without quote and backslash. Most ids, codes and words are. */
const NEEDS_NO_ESCAPE = /^[ !#-[\]-~]*$/;

/** A value without a canonical form is a bug of the caller: outside input is checked when it is read. */
function notCanonical(what: string): TypeError {
  return new TypeError(`no canonical form: ${what}`);
}

/**
 * The canonical text of a JSON value (RFC 8785). Throws a `TypeError` for what JSON cannot say exactly, such as undefined, NaN, lone
 * surrogates and cycles: libraries drop some of these, and a hash would vouch for what nobody wrote. One walk checks and writes, for speed;
 * a property test holds it equal to the reference library.
 */
export function jcs(value: unknown): string {
  return textOf(value, 0);
}

/** The canonical text of a value that somebody may have tampered with: a value without a canonical form gets a text that is no JSON. */
export function canonical(value: unknown): string {
  try {
    return jcs(value);
  } catch {
    return `~${String(JSON.stringify(value))}`;
  }
}

/** Whether a value can be written in canonical form at all: what a server writes can. */
export function hasCanonicalForm(value: unknown): boolean {
  return !canonical(value).startsWith('~');
}

/** The canonical text of a string: RFC 8785 takes the escapes of ECMAScript's `JSON.stringify`. */
export function jcsString(text: string): string {
  if (NEEDS_NO_ESCAPE.test(text)) return `"${text}"`;
  if (LONE_SURROGATE.test(text)) throw notCanonical('a lone surrogate');
  return JSON.stringify(text);
}

function textOf(value: unknown, depth: number): string {
  switch (typeof value) {
    case 'string':
      return jcsString(value);
    case 'number':
      if (!Number.isFinite(value)) throw notCanonical(String(value));
      return JSON.stringify(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      if (depth >= MAX_DEPTH) throw notCanonical('too deep, or a cycle');
      return Array.isArray(value) ? arrayText(value, depth) : objectText(value, depth);
    default:
      throw notCanonical(typeof value);
  }
}

function arrayText(elements: readonly unknown[], depth: number): string {
  let text = '';
  // By index: forEach would step over the holes of a sparse array.
  for (let i = 0; i < elements.length; i++) text += (i === 0 ? '' : ',') + textOf(elements[i], depth + 1);
  return `[${text}]`;
}

function objectText(value: object, depth: number): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw notCanonical('an instance of a class');
  const members = value as Record<string, unknown>;
  let text = '';
  // `sort` compares UTF-16 code units, as section 3.2.3 wants it.
  for (const name of Object.keys(members).sort()) {
    text += `${text === '' ? '' : ','}${jcsString(name)}:${textOf(members[name], depth + 1)}`;
  }
  return `{${text}}`;
}
