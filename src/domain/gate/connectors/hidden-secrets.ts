import { isJsonObject, type JsonValue } from '../../json.js';

const CUT = '[secret]';

/** Bytes of a text, each with the characters of the text that it comes from. */
interface Read {
  readonly bytes: Uint8Array;
  readonly from: Uint32Array;
  readonly to: Uint32Array;
}

type Span = readonly [from: number, to: number];

/**
 * Cuts the values of secrets out of what a receiver answered, wherever they stand: as they are, percent-encoded and escaped as in JSON,
 * whichever of their signs are, and in base64 at any place within something longer. The work is linear in both, whatever they are:
 * secrets come from administrators, and answers from anywhere.
 */
export class HiddenSecrets {
  private readonly needles: readonly Uint8Array[];

  constructor(values: Iterable<string>) {
    const needles = new Set<string>();
    for (const value of values) {
      needles.add(value);
      for (const core of base64Cores(value)) needles.add(core).add(core.replaceAll('+', '-').replaceAll('/', '_'));
    }
    this.needles = [...needles].map((needle) => Buffer.from(needle, 'utf8'));
  }

  text(text: string): string {
    if (this.needles.length === 0) return text;
    const spans = readings(text).flatMap(({ bytes, from, to }) =>
      this.needles.flatMap((needle) => occurrences(needle, bytes).map((at): Span => [from[at]!, to[at + needle.length - 1]!])));
    return spans.length === 0 ? text : without(text, spans);
  }

  /** Names of members too, and numbers, which become text where one is a secret. The same value where there is nothing to cut. */
  json(value: JsonValue): JsonValue {
    if (this.needles.length === 0) return value;
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') {
      const text = this.text(String(value));
      return text === String(value) ? value : text;
    }
    if (Array.isArray(value)) return value.map((element) => this.json(element));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, content]) => [this.text(name), this.json(content)]));
  }
}

/** The characters of base64 that a value fixes, whatever stands before and after: one for each place in a group of three bytes. */
function base64Cores(value: string): string[] {
  const bytes = Buffer.from(value, 'utf8');
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
}

/** As it stands, and with percent-encoding, JSON's escapes, or both of them undone: a secret may itself look like one of these. */
function readings(text: string): Read[] {
  const percents = text.includes('%') ? [false, true] : [false];
  const escapes = text.includes('\\') ? [false, true] : [false];
  return percents.flatMap((undoPercent) => escapes.map((undoEscapes) => read(text, undoPercent, undoEscapes)));
}

function read(text: string, undoPercent: boolean, undoEscapes: boolean): Read {
  const made = { bytes: [] as number[], from: [] as number[], to: [] as number[] };
  const push = (bytes: Uint8Array, from: number, to: number): number => {
    for (const byte of bytes) {
      made.bytes.push(byte);
      made.from.push(from);
      made.to.push(to);
    }
    return to;
  };
  for (let at = 0; at < text.length; ) {
    const sign = text[at];
    const percent = undoPercent && sign === '%' ? /^%([0-9a-f]{2})/i.exec(text.slice(at, at + 3)) : null;
    const escapes = undoEscapes && sign === '\\' ? /^(?:\\u[0-9a-f]{4}){1,2}/i.exec(text.slice(at, at + 12)) : null;
    if (percent) at = push(Uint8Array.of(parseInt(percent[1]!, 16)), at, at + 3);
    else if (escapes) {
      const units = escapes[0].match(/[0-9a-f]{4}/gi)!.map((hex) => parseInt(hex, 16));
      // Two escapes are one sign where they are a surrogate pair.
      const length = units.length === 2 && units[0]! >= 0xd800 && units[0]! < 0xdc00 ? 2 : 1;
      at = push(Buffer.from(String.fromCharCode(...units.slice(0, length)), 'utf8'), at, at + 6 * length);
    } else if (undoEscapes && sign === '\\' && /^["\\/]/.test(text.slice(at + 1, at + 2))) {
      at = push(Buffer.from(text[at + 1]!, 'utf8'), at, at + 2);
    } else at = pushSign(text, at, made);
  }
  return { bytes: Uint8Array.from(made.bytes), from: Uint32Array.from(made.from), to: Uint32Array.from(made.to) };
}

/** One sign as it stands. @returns where the next one begins */
function pushSign(text: string, at: number, made: { bytes: number[]; from: number[]; to: number[] }): number {
  const sign = String.fromCodePoint(text.codePointAt(at)!);
  for (const byte of Buffer.from(sign, 'utf8')) {
    made.bytes.push(byte);
    made.from.push(at);
    made.to.push(at + sign.length);
  }
  return at + sign.length;
}

/** Where a needle begins in bytes, overlapping ones included (Knuth, Morris and Pratt). */
function occurrences(needle: Uint8Array, bytes: Uint8Array): number[] {
  if (needle.length === 0 || needle.length > bytes.length) return [];
  const fallback = new Uint32Array(needle.length);
  for (let at = 1, length = 0; at < needle.length; at++) {
    while (length > 0 && needle[at] !== needle[length]) length = fallback[length - 1]!;
    if (needle[at] === needle[length]) length++;
    fallback[at] = length;
  }
  const found: number[] = [];
  for (let at = 0, length = 0; at < bytes.length; at++) {
    while (length > 0 && bytes[at] !== needle[length]) length = fallback[length - 1]!;
    if (bytes[at] === needle[length]) length++;
    if (length < needle.length) continue;
    found.push(at - length + 1);
    length = fallback[length - 1]!;
  }
  return found;
}

/** Spans that touch or overlap are cut as one. */
function without(text: string, spans: readonly Span[]): string {
  let result = '';
  let done = 0;
  for (const [from, to] of [...spans].sort(([a], [b]) => a - b)) {
    if (to <= done) continue;
    if (from > done || done === 0) result += text.slice(done, from) + CUT;
    done = to;
  }
  return result + text.slice(done);
}
