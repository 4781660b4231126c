import { isJsonObject, type JsonValue } from '../../json.js';
import { readings } from './readings.js';

const CUT = '[secret]';
const PLUS = 0x2b;
const BLANK = 0x20;

/** Longer texts than a connector may answer, or tell of a tool, are not searched, and nothing of them is shown. */
const SEARCHED_MAX = 1024 * 1024;
/** An occurrence is looked for by this many bytes first. */
const HEAD_BYTES = 8;

interface Span {
  readonly from: number;
  to: number;
}

/**
 * Cuts the values of secrets out of what a receiver answered, wherever they stand: as they are, percent-encoded and escaped as in JSON,
 * also several times and whichever of their signs are, with `+` for blanks, and in base64 at any place within something longer, with or
 * without line breaks. The work is linear in both, whatever they are: secrets come from administrators, and answers from anywhere.
 */
export class HiddenSecrets {
  private readonly needles: readonly Buffer[];

  constructor(values: Iterable<string>) {
    const needles = new Set<string>();
    for (const value of values) {
      // The encoded forms stand in readings, unless what is before them looks like the beginning of an escape.
      needles.add(value).add(encodeURIComponent(value)).add(JSON.stringify(value).slice(1, -1));
      for (const core of base64Cores(value)) needles.add(core).add(core.replaceAll('+', '-').replaceAll('/', '_'));
    }
    this.needles = [...needles].map((needle) => folded(Buffer.from(needle, 'utf8')));
  }

  text(text: string): string {
    if (this.needles.length === 0) return text;
    if (text.length > SEARCHED_MAX) return CUT;
    const spans: Span[] = [];
    for (const { bytes, from, to } of readings(text)) {
      const searched = folded(bytes);
      for (const needle of this.needles) {
        for (const at of occurrences(needle, searched)) add(spans, from[at]!, to[at + needle.length - 1]!);
      }
    }
    return spans.length === 0 ? text : without(Buffer.from(text, 'utf8'), spans);
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

/** Forms write blanks as `+`, and what reads them makes blanks of the `+` of base64: both are one sign here. */
function folded(bytes: Buffer): Buffer {
  return bytes.includes('+') ? Buffer.from(bytes.map((byte) => (byte === PLUS ? BLANK : byte))) : bytes;
}

/** Where a needle begins in bytes, overlapping ones included (Knuth, Morris and Pratt). */
function* occurrences(needle: Buffer, bytes: Buffer): Generator<number> {
  const head = needle.subarray(0, HEAD_BYTES);
  let at = needle.length === 0 ? -1 : bytes.indexOf(head);
  if (at < 0) return;
  const fallback = fallbacksOf(needle);
  for (let length = 0; at < bytes.length; at++) {
    while (length > 0 && bytes[at] !== needle[length]) length = fallback[length - 1]!;
    if (length === 0) {
      at = bytes.indexOf(head, at);
      if (at < 0) return;
    }
    if (++length < needle.length) continue;
    yield at - length + 1;
    length = fallback[length - 1]!;
  }
}

/** For each beginning of a needle, how long a shorter beginning it ends with. */
function fallbacksOf(needle: Buffer): Uint32Array {
  const fallback = new Uint32Array(needle.length);
  for (let at = 1, length = 0; at < needle.length; at++) {
    while (length > 0 && needle[at] !== needle[length]) length = fallback[length - 1]!;
    if (needle[at] === needle[length]) length++;
    fallback[at] = length;
  }
  return fallback;
}

/** The next span; of something that repeats itself there are as many as bytes, so those of one needle that touch or overlap are one. */
function add(spans: Span[], from: number, to: number): void {
  const last = spans.at(-1);
  if (last && last.from <= from && from <= last.to) last.to = Math.max(last.to, to);
  else spans.push({ from, to });
}

/** Spans that touch or overlap are cut as one. */
function without(text: Buffer, spans: readonly Span[]): string {
  let result = '';
  let done = 0;
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    if (to <= done) continue;
    if (from > done || done === 0) result += text.toString('utf8', done, from) + CUT;
    done = to;
  }
  return result + text.toString('utf8', done);
}
