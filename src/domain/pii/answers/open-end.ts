import { isMonth } from '../recognizers/date-of-birth.js';

/** Words behind a value tell what it is up to so far; `context-words.ts` reads 24 characters, and the word that begins in them. */
const REACH = 32;
/** What a value may be followed by when its sentence ends; `12.` may be a day of a date. */
const SENTENCE_END = /[.;!?]["')\]]?$/;
const DAY = /^\d{1,2}\.$/;
/** Scripts without blanks begin above these letters: there every character is a word of its own. */
const LAST_LETTER = 0x52f;
/** What may be a value's part: digits, and what joins an address, a path or a name to one. */
const CANDIDATE = /[\d@:=\\/]|^[A-Z]{1,2}$|-----/;

/** A value that goes on: a word, up to the next blank or quote; or a private key, up to its end mark. */
export type OpenValue = 'word' | 'key';

/**
 * From where a text must wait for what follows: its last word, which may become a value; and values near its end together with those
 * joined to them by blanks, which the next words may explain.
 */
export function openFrom(text: string): number {
  let open = text.length;
  let end = text.length;
  for (;;) {
    while (end > 0 && isBlank(text.charCodeAt(end - 1))) end--;
    let start = end;
    while (start > 0 && !isBlank(text.charCodeAt(start - 1))) start--;
    if (start === end) return open;
    const word = text.slice(start, end);
    const isUnfinished = end === text.length;
    const isNear = text.length - end < REACH || end >= open - 3;
    if (!isNear) return open;
    if (isUnfinished || CANDIDATE.test(word) || isMonth(word)) {
      // Behind the end of its sentence nothing explains a value any more.
      if (!isUnfinished && open === text.length && SENTENCE_END.test(word) && !DAY.test(word)) return open;
      open = start;
    } else if (SENTENCE_END.test(word)) return open;
    end = start;
  }
}

/** Where a value that is swallowed ends in its continuation; undefined where it goes on. */
export function stillSwallowed(text: string, open: OpenValue): number | undefined {
  const end = open === 'word' ? /[\s"'`<>]/.exec(text) : /-----END [A-Z0-9 ]{0,40}-----|[^A-Za-z0-9+/=\s\\:,-]/.exec(text);
  if (!end) return undefined;
  return end.index + (end[0].startsWith('-----') ? end[0].length : 0);
}

function isBlank(code: number): boolean {
  return code <= 0x20 || code === 0xa0 || code > LAST_LETTER;
}
