/** A value of RFC 8259, as the strict reader hands it in: numbers are finite, strings are well-formed Unicode without NUL. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

export interface JsonObject {
  [member: string]: JsonValue;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** How deep arrays and objects may stand inside one another: far above the 64 levels of a body, below what overflows a stack. */
export const MAX_DEPTH = 256;

/** How reads what is no JSON, or too deep. */
export const UNREADABLE = '[unreadable]';

/**
 * Reads JSON that somebody may have tampered with, in the database or in a file. What is too deep is no JSON: whoever walked through it
 * would overflow the stack.
 *
 * @throws SyntaxError
 */
export function parseJson(text: string, maxDepth = MAX_DEPTH): JsonValue {
  if (isDeeper(text, maxDepth)) throw new SyntaxError(`more than ${maxDepth} levels`);
  return JSON.parse(text) as JsonValue;
}

/** The same, or undefined. */
export function readJson(text: string, maxDepth = MAX_DEPTH): JsonValue | undefined {
  try {
    return parseJson(text, maxDepth);
  } catch {
    return undefined;
  }
}

/** The same, where it only has to be shown: what cannot be read keeps nobody from the rest. */
export function shownJson(text: string, maxDepth = MAX_DEPTH): JsonValue {
  const value = readJson(text, maxDepth);
  return value === undefined ? UNREADABLE : value;
}

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/** Looks at the text, not at what it is parsed to: of a hundred million levels nothing is made. */
function isDeeper(text: string, maxDepth: number): boolean {
  // Each level takes two characters.
  if (text.length <= 2 * maxDepth) return false;
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isQuoted) {
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) isQuoted = false;
    } else if (code === QUOTE) isQuoted = true;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      if (++depth > maxDepth) return true;
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth--;
  }
  return false;
}
