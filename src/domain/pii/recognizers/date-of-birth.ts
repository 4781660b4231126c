import type { Scan } from '../scan.js';
import { Syllables } from '../syllables.js';

const MONTH = '(?:jan|feb|m[aä]r|apr|ma[iyj]|jun|jul|aug|sep|o[ck]t|nov|de[czs]|ene|abr|ago|dic|janv|f[eé]v|avr|juin|juil|' +
  'ao[uû]|d[eé]c|gen|' +
  'mag|giu|lug|set|ott|mar|fev|out|stycz|lut|kwie|czerw|lip|sierp|wrze|pa[zź]dz|lis|gru|янв|фев|мар|апр|ма[йя]|июн|июл|авг|' +
  'сен|окт|ноя|дек)' +
  '\\p{L}{0,9}\\.?';
const YEAR = '(?:19\\d\\d|20[0-2]\\d)';
const DAY = '(?:0?[1-9]|[12]\\d|3[01])';
const NUMBER = '(?:0?[1-9]|1[0-2])';
const FORMS = [
  `${YEAR}([-/.])${NUMBER}\\1${DAY}`,
  `${YEAR}\\s?[年년]\\s?${NUMBER}\\s?[月월]\\s?${DAY}\\s?[日일]`,
  `${DAY}([-/.]\\s?)${NUMBER}\\2(?:${YEAR}|\\d\\d)`,
  `${NUMBER}([-/])${DAY}\\3(?:${YEAR}|\\d\\d)`,
  `${DAY}(?:st|nd|rd|th|\\.|º|er)?[\\s-](?:of |de |del )?${MONTH}[\\s,-]{1,2}(?:de |del )?${YEAR}`,
  `${MONTH}\\s${DAY}(?:st|nd|rd|th)?,?\\s${YEAR}`,
];
const BEGIN = '(?<![0-9A-Za-z\u00c0-\u024f.\\-/])';
const DATE = new RegExp(`${BEGIN}(?:${FORMS.join('|')})(?!\\p{N}|[-/.]\\p{N}|[tT]\\d\\d:)`, 'iu');
/** At the end of a text, but for a blank. */
const LAST_DATE = new RegExp(`${BEGIN}(?:${FORMS.join('|')}) ?$`, 'iu');
const MONTH_NAME = new RegExp(`^${MONTH}$`, 'iu');

/** Whether a date may go on behind this word: `March 12, 1985`. */
export function isMonth(word: string): boolean {
  return /^\p{Lu}/u.test(word) && MONTH_NAME.test(word);
}

/** Of scripts that separate words. `NATO` and `geb`ühren are none. */
const WORD = new RegExp(
  '^(?:born|birth|birthda(?:y|te)|dob|geboren|geb|geburtsdatum|geburtstag|naissance|n[ée]e?|nacimiento|nacid[oa]|' +
    'nascita|nat[oa]|nascimento|nascid[oa]|urodzenia|urodzon[yae]|geboortedatum|födelsedatum|född|født|fødselsdato|' +
    'syntymäaika|syntynyt|doğum|рождения|родил(?:ся|ась)|народження|γέννησης)$', 'i');
/** Few words begin like one of them. */
const BEGINNINGS = new Syllables('bo bi do ge na né ne ur fö fø sy ро на γέ'.split(' '));
export const OTHER_BIRTH_WORDS = /出生|生年月日|生日|생년월일|출생|생일|जन्म|تاريخ الميلاد|วันเกิด/g;

/** Whether a date behind this word is somebody's birth. */
export function isBirthWord(text: string, start: number, end: number): boolean {
  if (!BEGINNINGS.mayBeAt(text, start)) return false;
  const word = text.slice(start, end);
  return word !== 'NATO' && WORD.test(word);
}

/** A sentence ends where a capital follows, and so does what the word was about. */
const SENTENCE_END = /\n\s*\n|[.!?]\s+\p{Lu}|[;]|<[A-Z]+_[A-Z_]+[0-9]*>/u;
const REACH = 48;

/**
 * The first date behind a word such as "born" in the same sentence, and the one right before it. The date's form does not tell day from
 * month, and need not.
 */
export function dateOfBirth(scan: Scan, start: number, end: number): void {
  scan.work.spend(20);
  const [behind] = scan.text.slice(end, end + REACH).split(SENTENCE_END, 1);
  const match = DATE.exec(behind!);
  if (match) scan.add('DATE_OF_BIRTH', end + match.index, end + match.index + match[0].length, 0.8);
  const from = Math.max(0, start - REACH);
  const before = scan.text.slice(from, start);
  const last = LAST_DATE.exec(before);
  if (last) scan.add('DATE_OF_BIRTH', from + last.index, from + last.index + last[0].trimEnd().length, 0.8);
}

/** Whether a date of this name, or behind this label, is somebody's birth. */
export function isBirthName(name: string): boolean {
  return name.split(/[^\p{L}]+|(?<=\p{Ll})(?=\p{Lu})/u).some((word) => isBirthWord(word, 0, word.length)) ||
    /birth|geburt|naissance|nacimiento|nascita|nascimento|urodzenia|geboorte|födelse|fødsel/i.test(name);
}
