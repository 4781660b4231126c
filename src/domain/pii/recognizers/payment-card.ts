import type { Scan } from '../scan.js';
import type { DigitGroups } from './digit-groups.js';

/** Issuers' ranges (ISO/IEC 7812), with the lengths that they give. */
const ISSUERS = new RegExp(
  '^(?:4(?:\\d{12}|\\d{15}|\\d{18})|(?:5[1-5]\\d\\d|222[1-9]|22[3-9]\\d|2[3-6]\\d\\d|27[01]\\d|2720)\\d{12}|3[47]\\d{13}|' +
  '3(?:0[0-5]|[689]\\d)\\d{11}|' +
    '(?:6011|64[4-9]\\d|65\\d\\d)\\d{12}|35(?:2[89]|[3-8]\\d)\\d{12}|62\\d{14,17}|(?:50|5[6-9]|6[0-9])\\d{10,17})$',
);
/** As cards are printed. Hardly anything else is written so. */
const PRINTED = new Set(['4_4_4_4', '4-4-4-4', '4_6_5', '4-6-5', '4_6_4', '4-6-4', '4_4_4_4_3']);

/** A payment card's number by issuer and Luhn. Printed in groups it is sure; as one number, of which some percent pass, it needs a word. */
export function paymentCard(scan: Scan, { start, end, digits, form }: DigitGroups): void {
  if (digits.length < 12 || !ISSUERS.test(digits) || !passesLuhn(digits) || /^(\d)\1+$/.test(digits)) return;
  if (PRINTED.has(form)) scan.add('CREDIT_CARD', start, end, 0.95);
  else if (scan.hasContext('CREDIT_CARD', start, end)) scan.add('CREDIT_CARD', start, end, 0.95);
}

/** ISO/IEC 7812-1, annex B. */
function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 0x30;
    sum += i % 2 === 0 ? digit : digit > 4 ? 2 * digit - 9 : 2 * digit;
  }
  return sum % 10 === 0;
}
