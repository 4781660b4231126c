import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { isDigit, isWord, type Scan } from '../scan.js';

/** `+49 (0)30 1234-567`: a plus sign, then groups of digits with at most two marks between them. */
const INTERNATIONAL = /\+\(?\d{1,4}\)?(?:[ .\-\u00a0\u2011/]?\(?\d{1,12}\)?){1,7}/y;
const NATIONAL = /\(?\d{1,11}\)?(?:[ .\-\u00a0\u2011/]{0,2}\(?\d{1,11}\)?){0,6}/y;
/** North America's brackets say what it is, so no word is needed. */
const BRACKETS = /^\([2-9]\d\d\) ?[2-9]\d\d[-. ]\d{4}$/;
const DIGITS_MIN = 7;
/** E.164 has 15 with the country's; a number of its own country has fewer. */
const DIGITS_MAX = 15;
/** What one number costs to be judged, in microseconds. */
const WORK = 25;

/** Countries whose numbers begin with a 0 where they are dialled at home, and those whose do not: tried in turn. */
const WITH_ZERO: readonly CountryCode[] = ['DE', 'GB', 'FR', 'NL', 'JP', 'IT', 'AU', 'SE', 'TR', 'KR', 'CN', 'UA', 'BE'];
const WITHOUT_ZERO: readonly CountryCode[] = ['US', 'ES', 'PL', 'PT', 'IN', 'BR', 'CN', 'IT', 'NO', 'DK', 'MX', 'CZ', 'RU', 'GR', 'SG'];

/** A number that names its country: the numbering plans decide (E.164). @param start of the plus sign */
export function internationalNumber(scan: Scan, start: number): void {
  if (start > 0 && isWord(scan.text.charCodeAt(start - 1))) return;
  const match = scan.matchAt(INTERNATIONAL, start);
  if (match) longestValid(scan, start, match[0], (written) => (isValid(scan, written) ? 0.9 : 0));
}

/** A number as it is dialled in its country: it needs a word nearby, since most numbers of ten digits are valid somewhere. */
export function nationalNumber(scan: Scan, start: number): void {
  const match = scan.matchAt(NATIONAL, start);
  if (!match || start + match[0].length <= scan.endOfPhone || digitsOf(match[0]).length < DIGITS_MIN) return;
  if (BRACKETS.test(match[0]) && isValid(scan, match[0], 'US')) return found(scan, start, start + match[0].length, 0.8);
  if (!scan.hasContext('PHONE_NUMBER', start, start + match[0].length)) return;
  longestValid(scan, start, match[0], (written) => {
    if (/^00[1-9]/.test(written)) return isValid(scan, `+${written.slice(2)}`) ? 0.85 : 0;
    const countries = /^\(?0/.test(written) ? WITH_ZERO : WITHOUT_ZERO;
    return countries.some((country) => isValid(scan, written, country)) ? 0.75 : 0;
  });
}

/** What follows in the sentence is cut off group by group. */
function longestValid(scan: Scan, start: number, match: string, scoreOf: (written: string) => number): void {
  let written = match;
  for (let tries = 0; tries < 4; tries++) {
    written = written.replace(written.includes('(') ? /[^\d)]+$/ : /\D+$/, '');
    const count = digitsOf(written).length;
    if (count < DIGITS_MIN) return;
    const end = start + written.length;
    const next = scan.text.charCodeAt(end);
    const isJoined = isWord(next) || ((next === 0x2d || next === 0x2e || next === 0x2f) && isDigit(scan.text.charCodeAt(end + 1)));
    const score = count <= DIGITS_MAX + 2 && !isJoined && hasBalance(written) ? scoreOf(written) : 0;
    if (score > 0) return found(scan, start, end, score);
    const last = written.search(/[ \u00a0][^ \u00a0]*$/);
    if (last < 0) return;
    written = written.slice(0, last);
  }
}

function found(scan: Scan, start: number, end: number, score: number): void {
  scan.add('PHONE_NUMBER', start, end, score);
  scan.endOfPhone = end;
}

function isValid(scan: Scan, written: string, country?: CountryCode): boolean {
  scan.work.spend(WORK);
  return parsePhoneNumberFromString(written, { extract: false,
    ...(country === undefined ? {} : { defaultCountry: country }) })?.isValid() ?? false;
}

function digitsOf(written: string): string {
  return written.replace(/\D/g, '');
}

function hasBalance(written: string): boolean {
  return written.includes('(') === written.includes(')');
}
