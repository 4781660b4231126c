import { isDigit, isWord } from '../scan.js';

/** Groups of digits that belong together, as people write long numbers: `4111 1111 1111 1111`, `078-05-1120`, `390.533.447-05`. */
export interface DigitGroups {
  readonly start: number;
  readonly end: number;
  /** Without what stands between them. */
  readonly digits: string;
  /** Lengths of the groups and what stands between them, a blank as `_`: `4_4_4_4`, `3-2-4`. */
  readonly form: string;
}

/** As many as a French number in groups has; telephone numbers in pairs have six. */
const GROUPS_MAX = 7;
const DIGITS_MAX = 19;

const [BLANK, NO_BREAK, NARROW, HYPHEN, DOT, SLASH, NB_HYPHEN, EN_DASH] = [0x20, 0xa0, 0x202f, 0x2d, 0x2e, 0x2f, 0x2011, 0x2013];

/**
 * The numbers that begin here: of `12 345 67` those of one, two and three groups. One that is joined to what follows, other than by
 * a blank, is none of its own.
 */
export function digitGroups(text: string, start: number): readonly DigitGroups[] {
  const found: DigitGroups[] = [];
  let digits = '';
  let form = '';
  let at = start;
  for (let groups = 0; groups < GROUPS_MAX; groups++) {
    const from = at;
    while (isDigit(text.charCodeAt(at)) && at - from <= DIGITS_MAX) at++;
    digits += text.slice(from, at);
    form += String(at - from);
    if (digits.length > DIGITS_MAX) break;
    const separator = text.charCodeAt(at);
    const isBlank = separator === BLANK || separator === NO_BREAK || separator === NARROW;
    // Two blanks, as in a table or behind a slip.
    const isTwice = isBlank && text.charCodeAt(at + 1) === separator;
    const goesOn = isDigit(text.charCodeAt(at + (isTwice ? 2 : 1)));
    const isJoined = separator === HYPHEN || separator === DOT || separator === SLASH || separator === NB_HYPHEN ||
      separator === EN_DASH;
    if (!isWord(separator) && !(isJoined && isWord(text.charCodeAt(at + 1)) )) found.push({ start, end: at, digits, form });
    if (!goesOn || !(isBlank || isJoined)) break;
    form += isBlank ? '_' : separator === NB_HYPHEN || separator === EN_DASH ? '-' : text[at];
    at += isTwice ? 2 : 1;
  }
  return found;
}
