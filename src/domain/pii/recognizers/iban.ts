import { isValidIBAN } from 'ibantools';
import { beginsHere, endsHere, type Scan } from '../scan.js';

/** The longest is Malta's or Saint Lucia's with 32; Russia's has 33. In groups of four, or in one. */
const IBAN = /[A-Za-z]{2}\d{2}(?:[ \u00a0-]?[0-9A-Za-z]{4}){2,7}(?:[ \u00a0-]?[0-9A-Za-z]{1,3})?/y;
const GROUP = /[ \u00a0-]/g;
const SHORTEST = 15;

/** An account number of ISO 13616, by its country's length and form, and mod 97. What follows in the sentence is cut off group by group. */
export function iban(scan: Scan, start: number): void {
  const match = scan.matchAt(IBAN, start);
  if (!match || !beginsHere(scan.text, start)) return;
  let [written] = match;
  for (;;) {
    const electronic = written.replace(GROUP, '').toUpperCase();
    if (electronic.length < SHORTEST) return;
    scan.work.spend(4);
    const end = start + written.length;
    if (endsHere(scan.text, end) && isValidIBAN(electronic)) return scan.add('IBAN_CODE', start, end, 1);
    const last = Math.max(written.lastIndexOf(' '), written.lastIndexOf('\u00a0'), written.lastIndexOf('-'));
    if (last < 0) return;
    written = written.slice(0, last);
  }
}
