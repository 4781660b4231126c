import { isUtf8 } from 'node:buffer';
import type { JsonObject, JsonValue } from '../../../domain/json.js';
import { pointerOf } from './json-pointer.js';

export interface StrictJsonLimits {
  /** Arrays and objects inside one another; `{}` alone is 1. */
  maxDepth: number;
}

export type StrictJsonResult = { ok: true; value: JsonValue } | { ok: false; pointer: string; message: string };

export const DEFAULT_LIMITS: StrictJsonLimits = { maxDepth: 64 };

/**
 * Reads one JSON text (RFC 8259) from raw bytes, in one pass, as I-JSON (RFC 7493) asks: well-formed UTF-8 without a
 * byte order mark, no lone surrogates, no member given twice (compared after unescaping), integers within ±(2^53−1),
 * no number beyond the doubles. Also refused, because something behind us cannot hold it: NUL, `__proto__` as a
 * member's name, more than `maxDepth` levels.
 *
 * Everything else is what `JSON.parse` gives: plain objects, in which `constructor` or `toString` is a member like any
 * other. The value is built here rather than checked and parsed again, because `JSON.parse` has no word about
 * duplicates, and two readers of one text may come to disagree.
 */
export function parseStrictJson(bytes: Uint8Array, limits: StrictJsonLimits = DEFAULT_LIMITS): StrictJsonResult {
  if (!isUtf8(bytes)) return { ok: false, pointer: '', message: 'must be JSON in well-formed UTF-8' };
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    return { ok: false, pointer: '', message: 'must not begin with a byte order mark' };
  }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const reader = new Reader(text, limits.maxDepth);
  try {
    return { ok: true, value: reader.document() };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { ok: false, pointer: pointerOf(reader.path), message: error.message };
  }
}

/** Ends the reading; never leaves this file. */
class Refusal extends Error {}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t',
};
const HEX4 = /^[0-9a-fA-F]{4}$/;

/** Recursive descent; the recursion ends at `maxDepth`, far from any stack's end. */
class Reader {
  /** Where the reader stands: names and indexes from the root. Read only when it refuses. */
  readonly path: (string | number)[] = [];
  private at = 0;

  constructor(
    private readonly text: string,
    private readonly maxDepth: number,
  ) {}

  document(): JsonValue {
    const value = this.value(0);
    this.space();
    if (this.at < this.text.length) this.syntax('nothing after the value');
    return value;
  }

  private value(depth: number): JsonValue {
    this.space();
    const code = this.text.charCodeAt(this.at);
    switch (code) {
      case 0x7b:
        return this.object(depth + 1);
      case 0x5b:
        return this.array(depth + 1);
      case QUOTE:
        return this.string();
      case 0x74:
        return this.word('true', true);
      case 0x66:
        return this.word('false', false);
      case 0x6e:
        return this.word('null', null);
      default:
        if (code === 0x2d || (code >= 0x30 && code <= 0x39)) return this.number();
        return this.syntax('a value');
    }
  }

  private object(depth: number): JsonObject {
    this.deepen(depth);
    const object: JsonObject = {};
    this.at++;
    this.space();
    if (this.text.charCodeAt(this.at) === 0x7d) {
      this.at++;
      return object;
    }
    const level = this.path.length;
    for (;;) {
      this.space();
      if (this.text.charCodeAt(this.at) !== QUOTE) this.syntax('a member name in double quotes');
      const name = this.string();
      this.path[level] = name;
      if (name === '__proto__') throw new Refusal('is a name that is not accepted');
      if (Object.hasOwn(object, name)) throw new Refusal('is given twice; give each member once');
      this.space();
      if (this.text.charCodeAt(this.at) !== 0x3a) this.syntax('a colon');
      this.at++;
      object[name] = this.value(depth);
      this.path.length = level;
      this.space();
      const code = this.text.charCodeAt(this.at);
      if (code === 0x7d) {
        this.at++;
        return object;
      }
      if (code !== 0x2c) this.syntax('a comma or }');
      this.at++;
    }
  }

  private array(depth: number): JsonValue[] {
    this.deepen(depth);
    const array: JsonValue[] = [];
    this.at++;
    this.space();
    if (this.text.charCodeAt(this.at) === 0x5d) {
      this.at++;
      return array;
    }
    const level = this.path.length;
    for (;;) {
      this.path[level] = array.length;
      array.push(this.value(depth));
      this.path.length = level;
      this.space();
      const code = this.text.charCodeAt(this.at);
      if (code === 0x5d) {
        this.at++;
        return array;
      }
      if (code !== 0x2c) this.syntax('a comma or ]');
      this.at++;
    }
  }

  private string(): string {
    const { text } = this;
    const start = ++this.at;
    for (let i = start; ; i++) {
      const code = text.charCodeAt(i);
      if (code === QUOTE) {
        this.at = i + 1;
        return text.slice(start, i);
      }
      if (code === BACKSLASH) return this.escapedString(start, i);
      if (!(code >= 0x20)) return this.unquotable(code, i);
    }
  }

  /** The rest of a string from its first backslash on. */
  private escapedString(start: number, firstEscape: number): string {
    const { text } = this;
    let result = text.slice(start, firstEscape);
    let i = firstEscape;
    for (;;) {
      const code = text.charCodeAt(i);
      if (code === QUOTE) {
        this.at = i + 1;
        return result;
      }
      if (code === BACKSLASH) {
        this.at = i;
        result += this.escape();
        i = this.at;
        continue;
      }
      if (!(code >= 0x20)) return this.unquotable(code, i);
      const run = i++;
      for (let c = text.charCodeAt(i); c !== QUOTE && c !== BACKSLASH && c >= 0x20; c = text.charCodeAt(i)) i++;
      result += text.slice(run, i);
    }
  }

  /** One escape; a pair of surrogate escapes counts as one, since neither half may stand alone. */
  private escape(): string {
    const letter = this.text.charAt(this.at + 1);
    if (letter !== 'u') {
      const plain = ESCAPES[letter];
      if (plain === undefined || letter.length !== 1) this.syntax('a valid escape');
      this.at += 2;
      return plain;
    }
    const unit = this.hexUnit();
    if (unit === 0) throw new Refusal('must not contain NUL');
    if (unit < 0xd800 || unit > 0xdfff) return String.fromCharCode(unit);
    if (unit <= 0xdbff && this.text.startsWith('\\u', this.at)) {
      const low = this.hexUnit();
      if (low >= 0xdc00 && low <= 0xdfff) return String.fromCharCode(unit, low);
    }
    throw new Refusal('must not contain a lone surrogate');
  }

  private hexUnit(): number {
    const digits = this.text.slice(this.at + 2, this.at + 6);
    if (!HEX4.test(digits)) this.syntax('four hexadecimal digits after \\u');
    this.at += 6;
    return Number.parseInt(digits, 16);
  }

  private number(): number {
    const { text } = this;
    const start = this.at;
    let i = start;
    if (text.charCodeAt(i) === 0x2d) i++;
    if (text.charCodeAt(i) === 0x30) i++;
    else i = this.digits(i);
    if (text.charCodeAt(i) === 0x2e) i = this.digits(i + 1);
    const code = text.charCodeAt(i);
    if (code === 0x65 || code === 0x45) {
      const sign = text.charCodeAt(i + 1);
      i = this.digits(sign === 0x2b || sign === 0x2d ? i + 2 : i + 1);
    }
    this.at = i;
    const value = Number(text.slice(start, i));
    // Every double beyond ±2^53 is an integer, so this also refuses infinities and fractions too large to be kept.
    if (!(value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER)) {
      throw new Refusal('must be a number within ±9007199254740991; send larger ones as a string');
    }
    return value;
  }

  private digits(from: number): number {
    let i = from;
    for (let code = this.text.charCodeAt(i); code >= 0x30 && code <= 0x39; code = this.text.charCodeAt(i)) i++;
    if (i === from) {
      this.at = i;
      this.syntax('a digit');
    }
    return i;
  }

  private word<T extends JsonValue>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) this.syntax('a value');
    this.at += word.length;
    return value;
  }

  private space(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.at++;
    }
  }

  private deepen(depth: number): void {
    if (depth > this.maxDepth) throw new Refusal(`must not be nested deeper than ${this.maxDepth} levels`);
  }

  private unquotable(code: number, at: number): never {
    this.at = at;
    if (code === 0) throw new Refusal('must not contain NUL');
    return this.syntax(Number.isNaN(code) ? 'the closing quote' : 'control characters in strings to be escaped');
  }

  private syntax(expected: string): never {
    throw new Refusal(`must be JSON: expected ${expected} at character ${this.at + 1}`);
  }
}
