import { validate as isTfn } from 'stdnum/lib/cjs/au/tfn.js';
import { validate as isBelgian } from 'stdnum/lib/cjs/be/nn.js';
import { validate as isCpf } from 'stdnum/lib/cjs/br/cpf.js';
import { validate as isSin } from 'stdnum/lib/cjs/ca/sin.js';
import { validate as isChinese } from 'stdnum/lib/cjs/cn/ric.js';
import { validate as isSteuerId } from 'stdnum/lib/cjs/de/idnr.js';
import { validate as isNie } from 'stdnum/lib/cjs/es/nie.js';
import { validate as isDni } from 'stdnum/lib/cjs/es/dni.js';
import { validate as isHetu } from 'stdnum/lib/cjs/fi/hetu.js';
import { validate as isNir } from 'stdnum/lib/cjs/fr/nir.js';
import { validate as isNino } from 'stdnum/lib/cjs/gb/nino.js';
import { validate as isAadhaar } from 'stdnum/lib/cjs/in/aadhaar.js';
import { validate as isPan } from 'stdnum/lib/cjs/in/pan.js';
import { validate as isFiscalCode } from 'stdnum/lib/cjs/it/codicefiscale.js';
import { validate as isRrn } from 'stdnum/lib/cjs/kr/rrn.js';
import { validate as isCurp } from 'stdnum/lib/cjs/mx/curp.js';
import { validate as isBsn } from 'stdnum/lib/cjs/nl/bsn.js';
import { validate as isNorwegian } from 'stdnum/lib/cjs/no/fodselsnummer.js';
import { validate as isPesel } from 'stdnum/lib/cjs/pl/pesel.js';
import { validate as isPortuguese } from 'stdnum/lib/cjs/pt/nif.js';
import { validate as isSwedish } from 'stdnum/lib/cjs/se/personnummer.js';
import { validate as isTckn } from 'stdnum/lib/cjs/tr/tckimlik.js';
import { validate as isSsn } from 'stdnum/lib/cjs/us/ssn.js';
import { validate as isSouthAfrican } from 'stdnum/lib/cjs/za/idnr.js';
import type { EntityType } from '../entity-types.js';
import { beginsHere, endsHere, isDigit, type Scan } from '../scan.js';
import type { DigitGroups } from './digit-groups.js';

interface NationalId {
  readonly type: EntityType;
  readonly check: (value: string) => { isValid: boolean };
  /** The forms in which it is written, of those of numbers: lengths of the groups. */
  readonly forms?: RegExp;
  /** The same of those with letters. */
  readonly written?: RegExp;
  /** Forms that hardly anything else has, with a checksum of 1 in 1,000 or better: they need no word nearby. */
  readonly sure?: RegExp;
  /** Whether its separators mean something: a personnummer's tells the century. */
  readonly asWritten?: true;
  readonly score: number;
}

const [SURE, CHECKED, SHAPED] = [1, 0.95, 0.8];

/** By how many digits they have. What chance passes more often than 1 in 1,000 needs a word nearby. */
const OF_DIGITS: readonly NationalId[] = [
  { type: 'US_SSN', check: isSsn, forms: /^(?:9|3([-_])2\1(?:4))$/, sure: /^3-2-4$/, score: SHAPED },
  { type: 'CA_SIN', check: isSin, forms: /^(?:9|3([-_])3\1(?:3))$/, score: CHECKED },
  { type: 'PT_NIF', check: isPortuguese, forms: /^(?:9|3_3_3)$/, score: CHECKED },
  { type: 'NL_BSN', check: isBsn, forms: /^(?:9|4[._]2[._]3|3[._]3[._]3)$/, score: CHECKED },
  { type: 'AU_TFN', check: isTfn, forms: /^(?:8|9|3[-_]3[-_][23])$/, score: CHECKED },
  { type: 'UK_NHS', check: isNhs, forms: /^(?:10|3([-_])3\1(?:4))$/, score: CHECKED },
  { type: 'SE_PERSONNUMMER', check: isSwedish, forms: /^(?:10|12|6-4|8-4)$/, asWritten: true, score: CHECKED },
  { type: 'BR_CPF', check: isCpf, forms: /^(?:11|3[._]3[._]3[-_]2)$/, sure: /^3\.3\.3-2$/, score: CHECKED },
  { type: 'DE_TAX_ID', check: isSteuerId, forms: /^(?:11|2[_/]3[_/]3[_/]3)$/, score: CHECKED },
  { type: 'BE_NATIONAL_NUMBER', check: isBelgian, forms: /^(?:11|2\.2\.2-3\.2|6[-_]3[-_.]2)$/, sure: /^2\.2\.2-3\.2$/, score: CHECKED },
  { type: 'PL_PESEL', check: isPesel, forms: /^11$/, score: CHECKED },
  { type: 'NO_FODSELSNUMMER', check: isNorwegian, forms: /^(?:11|6_5)$/, score: CHECKED },
  { type: 'TR_TCKN', check: isTckn, forms: /^11$/, score: CHECKED },
  { type: 'IN_AADHAAR', check: isAadhaar, forms: /^(?:12|4([-_])4\1(?:4))$/, score: CHECKED },
  { type: 'KR_RRN', check: isRrn, forms: /^(?:13|6-7)$/, score: CHECKED },
  { type: 'ZA_ID_NUMBER', check: isSouthAfrican, forms: /^(?:13|6_4_2_1)$/, score: CHECKED },
  { type: 'FR_NIR', check: isNir, forms: /^(?:15|13_2|1_2_2_2_3_3(?:_2)?)$/, sure: /_2$/, score: CHECKED },
  { type: 'CN_RESIDENT_ID', check: isChinese, forms: /^18$/, sure: /^18$/, score: SURE },
];

/** Of those with letters, which begin by a digit. */
const BEGUN_BY_DIGIT: readonly NationalId[] = [
  { type: 'ES_NIF', check: isDni, written: /\d{2}\.?\d{3}\.?\d{3}[- ]?[A-HJ-NP-TV-Za-hj-np-tv-z]/y, score: CHECKED },
  { type: 'CN_RESIDENT_ID', check: isChinese, written: /\d{17}[Xx]/y, sure: /./, score: SURE },
  { type: 'FI_PERSONAL_IDENTITY_CODE', check: isHetu, written: /[0-3]\d[01]\d{3}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]/y, sure: /./, score: SURE },
];

const BEGUN_BY_LETTER: readonly NationalId[] = [
  { type: 'ES_NIE', check: isNie, written: /[XYZxyz][- ]?\d{7}[- ]?[A-HJ-NP-TV-Za-hj-np-tv-z]/y, score: CHECKED },
  { type: 'IT_FISCAL_CODE', check: isFiscalCode, written: /[A-Z]{6}[0-9L-NP-V]{2}[A-EHLMPRST][0-9L-NP-V]{2}[A-Z][0-9L-NP-V]{3}[A-Z]/iy,
    sure: /./, score: SURE },
  { type: 'MX_CURP', check: isCurp, written: /[A-Z]{4}\d{6}[HMX][A-Z]{5}[0-9A-Z]\d/iy, sure: /./, score: SURE },
  { type: 'IN_PAN', check: isPan, written: /[A-Z]{3}[ABCFGHJLPT][A-Z]\d{4}[A-Z]/y, score: SHAPED },
  { type: 'UK_NINO', check: isNino, written: /[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]( ?)\d{2}\1\d{2}\1\d{2}\1[A-D]/y, score: SHAPED },
];

/** Of the forms, the longest of which have seven groups, few are anybody's: by form, whose they are. */
const BY_FORM = new Map<string, readonly NationalId[]>();
const FORMS_MAX = 4096;

function ofForm(form: string): readonly NationalId[] {
  const known = BY_FORM.get(form);
  if (known) return known;
  const ids = OF_DIGITS.filter(({ forms }) => forms!.test(form));
  if (BY_FORM.size < FORMS_MAX) BY_FORM.set(form, ids);
  return ids;
}

/** Identifiers that are digits alone. */
export function nationalNumbers(scan: Scan, { start, end, digits, form }: DigitGroups): void {
  for (const id of ofForm(form)) {
    judge(scan, id, start, end, id.sure?.test(form) === true, id.asWritten ? scan.text.slice(start, end) : digits);
  }
}

/** Identifiers with letters. */
export function nationalCodes(scan: Scan, start: number): void {
  for (const id of isDigit(scan.text.charCodeAt(start)) ? BEGUN_BY_DIGIT : BEGUN_BY_LETTER) {
    const match = scan.matchAt(id.written!, start);
    if (match && endsHere(scan.text, start + match[0].length)) {
      judge(scan, id, start, start + match[0].length, id.sure !== undefined, match[0].replace(/[. ]/g, ''));
    }
  }
}

function judge(scan: Scan, { type, check, score }: NationalId, start: number, end: number, isSure: boolean, value: string): void {
  if (!scan.wants(type) || !beginsHere(scan.text, start) || !(isSure || scan.hasContext(type, start, end))) return;
  scan.work.spend(5);
  if (check(value.toUpperCase()).isValid) scan.add(type, start, end, score);
}

/** The National Health Service's number, by its weighted sum modulo 11; stdnum has none. */
function isNhs(digits: string): { isValid: boolean } {
  const sum = [...digits.slice(0, 9)].reduce((total, digit, index) => total + Number(digit) * (10 - index), 0);
  return { isValid: (11 - (sum % 11)) % 11 === Number(digits[9]) };
}
