/** Bytes as they are read, each with where in the text it begins and ends, in bytes. */
export interface Reading {
  readonly bytes: Buffer;
  readonly from: Uint32Array;
  readonly to: Uint32Array;
}

/** How many encodings are undone that lie one within another. */
const LAYERS_MAX = 3;

const PERCENT = 0x25;
const BACKSLASH = 0x5c;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const TAB = 0x09;
const BLANK = 0x20;
/** What JSON's short escapes stand for, both as bytes. */
const SHORT = new Map(
  [['"', '"'], ['\\', '\\'], ['/', '/'], ['b', '\b'], ['t', '\t'], ['n', '\n'], ['f', '\f'], ['r', '\r']]
    .map(([escape, meant]) => [escape!.charCodeAt(0), meant!.charCodeAt(0)]),
);

/**
 * A text as it stands, and with percent-encoding and JSON's escapes undone, in each order and up to three times, each of them with lines
 * joined, too. A step that changes nothing leads nowhere, so that a text without any has one reading, and the worst has 30.
 */
export function* readings(text: string): Generator<Reading> {
  const bytes = Buffer.from(text, 'utf8');
  const from = Uint32Array.from(bytes, (_byte, at) => at);
  yield* within({ bytes, from, to: from.map((at) => at + 1) }, LAYERS_MAX);
}

function* within(reading: Reading, layers: number): Generator<Reading> {
  yield reading;
  const joined = rewritten(reading, LINE_BREAKS);
  if (joined) yield joined;
  if (layers === 0) return;
  for (const encoding of [PERCENTS, ESCAPES]) {
    const inner = rewritten(reading, encoding);
    if (inner) yield* within(inner, layers - 1);
  }
}

/** Where something may stand for something else: by what byte it begins, how many bytes of it there are, and what it is read as. */
interface Rule {
  readonly begins: readonly number[];
  at(bytes: Buffer, at: number): { readonly length: number; readonly readAs: Iterable<number> } | undefined;
}

const PERCENTS: Rule = {
  begins: [PERCENT],
  at: (bytes, at) => {
    const byte = hexAt(bytes, at + 1, 2);
    return byte === undefined ? undefined : { length: 3, readAs: [byte] };
  },
};

const ESCAPES: Rule = {
  begins: [BACKSLASH],
  at: (bytes, at) => {
    const short = SHORT.get(bytes[at + 1]!);
    if (short !== undefined) return { length: 2, readAs: [short] };
    const first = unitAt(bytes, at);
    if (first === undefined) return undefined;
    // Two escapes are one sign where they are a surrogate pair.
    const second = first >= 0xd800 && first < 0xdc00 ? unitAt(bytes, at + 6) : undefined;
    const units = second === undefined ? [first] : [first, second];
    return { length: 6 * units.length, readAs: Buffer.from(String.fromCharCode(...units), 'utf8') };
  },
};

/** Encodings that break lines may indent them. */
const LINE_BREAKS: Rule = {
  begins: [LINE_FEED, CARRIAGE_RETURN],
  at: (bytes, at) => {
    let length = 1;
    while ([LINE_FEED, CARRIAGE_RETURN, TAB, BLANK].includes(bytes[at + length]!)) length++;
    return { length, readAs: [] };
  },
};

function unitAt(bytes: Buffer, at: number): number | undefined {
  return bytes[at] === BACKSLASH && bytes[at + 1] === 0x75 ? hexAt(bytes, at + 2, 4) : undefined;
}

function hexAt(bytes: Buffer, at: number, digits: number): number | undefined {
  const text = bytes.toString('latin1', at, at + digits);
  return text.length === digits && /^[0-9a-f]+$/i.test(text) ? parseInt(text, 16) : undefined;
}

/** A reading by a rule, which never makes it longer; undefined where the rule holds nowhere. */
function rewritten({ bytes, from, to }: Reading, rule: Rule): Reading | undefined {
  if (!rule.begins.some((byte) => bytes.includes(byte))) return undefined;
  const made = { bytes: Buffer.alloc(bytes.length), from: new Uint32Array(bytes.length), to: new Uint32Array(bytes.length) };
  let length = 0;
  const push = (byte: number, at: number, end: number): void => {
    made.bytes[length] = byte;
    made.from[length] = from[at]!;
    made.to[length++] = to[end - 1]!;
  };
  for (let at = 0; at < bytes.length; ) {
    const other = rule.begins.includes(bytes[at]!) ? rule.at(bytes, at) : undefined;
    const end = at + (other?.length ?? 1);
    if (other) for (const byte of other.readAs) push(byte, at, end);
    else push(bytes[at]!, at, end);
    at = end;
  }
  if (length === bytes.length) return undefined;
  return { bytes: made.bytes.subarray(0, length), from: made.from.subarray(0, length), to: made.to.subarray(0, length) };
}
