/**
 * Canonical JSON (RFC 8785) that can be told by its UTF-8 bytes: no spaces, sorted names, no escapes, plain numbers. Anything more unusual
 * is `UNCLEAR`, and has to be parsed. The bytes end with a zero, at which everything stops.
 */
export const UNCLEAR = -1;

const SPACE = 0x20;
export const QUOTE = 0x22;
export const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
export const COLON = 0x3a;
export const OPEN_LIST = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_LIST = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
const TILDE = 0x7e;
const BEYOND_ASCII = 0x80;
/** The first byte above U+CFFF: lone surrogates are written as U+FFFD, and names beyond them sort otherwise in UTF-16. */
const UNUSUAL = 0xed;

const MAX_DEPTH = 32;
/** A double keeps any number of as many digits apart. */
const MAX_DIGITS = 15;
/** Below 10^-6 a number is written with an exponent. */
const MAX_FRACTION = 6;

/** Whether a byte stands for itself between quotes. */
export function isPlain(byte: number): boolean {
  return byte >= SPACE && byte !== QUOTE && byte !== BACKSLASH && byte < UNUSUAL;
}

/** Where the value ends that begins at `at`. It has no name that begins with `~`, as commitments have. */
export function plainEnd(bytes: Uint8Array, at: number, depth = 0): number {
  const first = bytes[at]!;
  if (first === QUOTE) return stringEnd(bytes, at);
  if (first === MINUS || isDigit(first)) return numberEnd(bytes, at);
  if (first === OPEN_OBJECT) return depth < MAX_DEPTH ? objectEnd(bytes, at, depth + 1) : UNCLEAR;
  if (first === OPEN_LIST) return depth < MAX_DEPTH ? listEnd(bytes, at, depth + 1) : UNCLEAR;
  return wordEnd(bytes, at);
}

/** Where a name ends that begins, with its quote, at `at`: behind its closing quote. Of ASCII, and no commitment's. */
export function nameEnd(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== QUOTE || bytes[at + 1] === TILDE) return UNCLEAR;
  for (let next = at + 1; ; next++) {
    const byte = bytes[next]!;
    if (byte === QUOTE) return next + 1;
    if (byte >= BEYOND_ASCII || !isPlain(byte)) return UNCLEAR;
  }
}

/** Whether the first of two names, each given by where its opening quote stands, is sorted before the other. */
export function isBefore(bytes: Uint8Array, one: number, other: number): boolean {
  for (let n = 1; ; n++) {
    const a = bytes[one + n]!;
    const b = bytes[other + n]!;
    if (a !== b) return a === QUOTE || (b !== QUOTE && a < b);
    if (a === QUOTE) return false;
  }
}

function stringEnd(bytes: Uint8Array, at: number): number {
  for (let next = at + 1; ; next++) {
    const byte = bytes[next]!;
    if (byte === QUOTE) return next + 1;
    if (!isPlain(byte)) return UNCLEAR;
  }
}

function objectEnd(bytes: Uint8Array, at: number, depth: number): number {
  if (bytes[at + 1] === CLOSE_OBJECT) return at + 2;
  let previous = UNCLEAR;
  for (let name = at + 1; ; ) {
    const colon = nameEnd(bytes, name);
    if (colon === UNCLEAR || bytes[colon] !== COLON) return UNCLEAR;
    if (previous !== UNCLEAR && !isBefore(bytes, previous, name)) return UNCLEAR;
    const end = plainEnd(bytes, colon + 1, depth);
    if (end === UNCLEAR) return UNCLEAR;
    if (bytes[end] === CLOSE_OBJECT) return end + 1;
    if (bytes[end] !== COMMA) return UNCLEAR;
    previous = name;
    name = end + 1;
  }
}

function listEnd(bytes: Uint8Array, at: number, depth: number): number {
  if (bytes[at + 1] === CLOSE_LIST) return at + 2;
  for (let item = at + 1; ; ) {
    const end = plainEnd(bytes, item, depth);
    if (end === UNCLEAR) return UNCLEAR;
    if (bytes[end] === CLOSE_LIST) return end + 1;
    if (bytes[end] !== COMMA) return UNCLEAR;
    item = end + 1;
  }
}

/**
 * Whole numbers and short fractions. A decimal of up to 15 digits is the shortest that gives its double, so it is what RFC 8785 writes,
 * unless it needs an exponent or ends with a needless zero.
 */
function numberEnd(bytes: Uint8Array, at: number): number {
  const isNegative = bytes[at] === MINUS;
  const from = isNegative ? at + 1 : at;
  let next = from;
  while (isDigit(bytes[next]!)) next++;
  const digits = next - from;
  if (digits === 0 || digits > MAX_DIGITS || (bytes[from] === ZERO && digits > 1)) return UNCLEAR;
  if (bytes[next] !== POINT) return isNegative && bytes[from] === ZERO ? UNCLEAR : next;
  const point = next++;
  while (isDigit(bytes[next]!)) next++;
  const fraction = next - point - 1;
  const isShort = fraction > 0 && fraction <= MAX_FRACTION && digits + fraction <= MAX_DIGITS;
  return isShort && bytes[next - 1] !== ZERO ? next : UNCLEAR;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

const WORDS = ['true', 'false', 'null'].map((word) => new TextEncoder().encode(word));

function wordEnd(bytes: Uint8Array, at: number): number {
  for (const word of WORDS) {
    let n = 0;
    while (n < word.length && bytes[at + n] === word[n]) n++;
    if (n === word.length) return at + n;
  }
  return UNCLEAR;
}
