import { getOrInsert } from '../../collections.js';

/** @param isCut whether the text may go on behind its end, where nobody sees it */
export type TextMatcher = (text: string, isCut?: boolean) => boolean;

/** So much of a wanted text, at least, is met at the end of a text that is cut off there; or its first word, where that is shorter. */
const BEGINNING_MIN = 3;

/** How often text is taken for JSON text within JSON text: each time doubles the backslashes, and nobody nests so deep. */
const NESTED_MOST = 5;

/**
 * Matches wanted texts as whole words: no letter, digit or mark right before or after; letter case, white space and Unicode spellings make
 * no difference. E-mail and network addresses only match whole: `a@example.org` is not in `da.a@example.org`, nor `10.0.0.1` in
 * `10.0.0.1.5`. A text is also read without the escapes of JSON and JSON pointers, and the end of a cut text may be the beginning of a
 * wanted one.
 */
export function textMatcher(wanted: readonly string[]): TextMatcher {
  const byJoiners = new Map<string, string[]>();
  for (const one of new Set(wanted.map(fold))) if (one !== '') getOrInsert(byJoiners, joinersOf(one), () => []).push(one);
  if (byJoiners.size === 0) return () => false;
  const pattern = new RegExp([...byJoiners].map(([joiners, words]) => wholeWords(words, joiners)).join('|'), 'u');
  const beginnings = [...byJoiners].map(([joiners, words]) => beginningAtEnd(words, joiners));
  return (text, isCut = false) => {
    for (const reading of readingsOf(text)) {
      const folded = fold(reading);
      if (pattern.test(folded) || (isCut && beginnings.some((isAtEnd) => isAtEnd(folded)))) return true;
    }
    return false;
  };
}

const WORD = String.raw`[\p{L}\p{N}\p{M}]`;

/** One look around for all of them: somebody may have called from a thousand addresses. */
function wholeWords(folded: readonly string[], joins: string): string {
  const after = joins === '' ? '' : `(?![${joins}]${WORD})`;
  const words = folded.map((one) => one.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)).sort();
  return `${nothingBefore(joins)}(?:${words.join('|')})(?!${WORD})${after}`;
}

function nothingBefore(joins: string): string {
  return `(?<!${WORD})${joins === '' ? '' : `(?<!${WORD}[${joins}])`}`;
}

/** A test for whether a text ends with what one of these begins with. */
function beginningAtEnd(words: readonly string[], joins: string): (folded: string) => boolean {
  const starts = new RegExp(nothingBefore(joins), 'gu');
  const longest = Math.max(...words.map(({ length }) => length));
  const enough = words.map((word) => Math.min(BEGINNING_MIN, word.split(' ', 1)[0]!.length));
  return (folded) => [...folded.matchAll(starts)].some(({ index }) => {
    if (folded.length - index >= longest) return false;
    const end = folded.slice(index);
    return words.some((word, i) => end.length >= enough[i]! && word.startsWith(end));
  });
}

/** Characters by which an address goes on: what stands across them belongs to it. */
function joinersOf(folded: string): string {
  if (/^[^\s@]+@[^\s@]+$/.test(folded)) return '._%+\\-';
  if (/^[0-9a-f:.]*:[0-9a-f:.]*$/.test(folded)) return ':.';
  return /^\d+(\.\d+){3}$/.test(folded) ? '.' : '';
}

/** Upper case first: only so do `ß` and `SS`, and the two small sigmas, fall together. */
function fold(text: string): string {
  return text.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC').replaceAll('ς', 'σ').replaceAll(/\s+/gu, ' ').trim();
}

// At the end an escape may be cut off; what is left of it belongs to no word.
const JSON_ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt])|(?:u[0-9a-fA-F]{0,3})?$)/g;
const POINTER_ESCAPE = /~(?:([01])|$)/g;
const SHORT_ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** What a text says: as it stands, and without the escapes of a JSON text (RFC 8259) or of a JSON pointer (RFC 6901). */
function* readingsOf(text: string): Generator<string> {
  let reading = text;
  for (let depth = 0; depth <= NESTED_MOST; depth++) {
    yield reading;
    if (reading.includes('~')) yield reading.replaceAll(POINTER_ESCAPE, (_, digit?: string) => ({ 0: '~', 1: '/' })[digit ?? ''] ?? '');
    if (!reading.includes('\\')) return;
    const unescaped = reading.replaceAll(JSON_ESCAPE, (_, code?: string, short?: string) =>
      code === undefined ? (SHORT_ESCAPES[short ?? ''] ?? short ?? '') : String.fromCharCode(parseInt(code, 16)));
    if (unescaped === reading) return;
    reading = unescaped;
  }
}
