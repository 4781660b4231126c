import { BACKSLASH, isPlain, QUOTE, UNCLEAR } from './json-scanner.js';

// Small steps over bytes, each from one position to the next. A step from `UNCLEAR` stays there, so a row of them is checked at its end.

const MAX_ASCII = 0x7f;
const SALT_LETTERS = 22;
/** A text of 43 letters: base64url of a SHA-256. */
export const DIGEST_LETTERS = 43;

/** Writes text that is known to be ASCII. */
export function put(bytes: Uint8Array, at: number, text: string): number {
  if (at === UNCLEAR) return UNCLEAR;
  for (let n = 0; n < text.length; n++) bytes[at + n] = text.charCodeAt(n);
  return at + text.length;
}

/** Writes text if it stands for itself between quotes, and is ASCII. */
export function putPlain(bytes: Uint8Array, at: number, text: string): number {
  if (at === UNCLEAR) return UNCLEAR;
  for (let n = 0; n < text.length; n++) {
    const unit = text.charCodeAt(n);
    if (unit > MAX_ASCII || !isPlain(unit)) return UNCLEAR;
    bytes[at + n] = unit;
  }
  return at + text.length;
}

/** Behind a text that is known to be ASCII, where it stands there. */
export function behind(bytes: Uint8Array, at: number, text: string): number {
  if (at === UNCLEAR) return UNCLEAR;
  for (let n = 0; n < text.length; n++) if (bytes[at + n] !== text.charCodeAt(n)) return UNCLEAR;
  return at + text.length;
}

/** Behind a text where it stands there and stands for itself between quotes, and is ASCII. */
export function behindPlain(bytes: Uint8Array, at: number, text: string): number {
  if (at === UNCLEAR) return UNCLEAR;
  for (let n = 0; n < text.length; n++) {
    const unit = text.charCodeAt(n);
    if (unit > MAX_ASCII || !isPlain(unit) || bytes[at + n] !== unit) return UNCLEAR;
  }
  return at + text.length;
}

/** Whether the same `length` bytes stand at two positions. */
export function areSame(one: Uint8Array, from: number, other: Uint8Array, otherFrom: number, length: number): boolean {
  for (let n = 0; n < length; n++) if (one[from + n] !== other[otherFrom + n]) return false;
  return true;
}

/** Whether one digest is sorted before another. */
export function isLower(bytes: Uint8Array, one: number, other: number): boolean {
  for (let n = 0; n < DIGEST_LETTERS; n++) {
    const difference = bytes[one + n]! - bytes[other + n]!;
    if (difference !== 0) return difference < 0;
  }
  return false;
}

const SIX_BITS = 6;
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const NO_LETTER = -1;
const LETTERS = new Int8Array(256).fill(NO_LETTER);
for (let n = 0; n < BASE64URL.length; n++) LETTERS[BASE64URL.charCodeAt(n)] = n;

/** Reads 22 letters of base64url into 16 bytes. In one spelling: the four bits that the last letter has too many are zero. */
export function readSalt(bytes: Uint8Array, at: number, into: Uint8Array): number {
  if (at === UNCLEAR) return UNCLEAR;
  let [gathered, bits, written] = [0, 0, 0];
  for (let n = 0; n < SALT_LETTERS; n++) {
    const letter = LETTERS[bytes[at + n]!]!;
    if (letter === NO_LETTER) return UNCLEAR;
    gathered = ((gathered << SIX_BITS) | letter) & 0xffff;
    bits += SIX_BITS;
    if (bits < 8) continue;
    bits -= 8;
    into[written++] = gathered >> bits;
  }
  return (gathered & ((1 << bits) - 1)) === 0 ? at + SALT_LETTERS : UNCLEAR;
}

/** Unescapes a JSON string in which only quotes are escaped; gives the position of its closing quote, and its length in `readLength`. */
export function readQuoted(bytes: Uint8Array, at: number, into: Uint8Array, from: number): number {
  if (at === UNCLEAR) return UNCLEAR;
  let written = from;
  for (let next = at; ; next++) {
    const byte = bytes[next]!;
    if (isPlain(byte)) into[written++] = byte;
    else if (byte === QUOTE) {
      readLength = written - from;
      return next;
    } else if (byte === BACKSLASH && bytes[next + 1] === QUOTE) {
      into[written++] = QUOTE;
      next++;
    } else return UNCLEAR;
  }
}

/** How many bytes `readQuoted` has written. Nothing here is asynchronous. */
export let readLength = 0;
