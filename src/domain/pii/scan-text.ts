import { madeOnce } from '../collections.js';
import { ENTITY_TYPES, type EntityType } from './entity-types.js';
import type { Finding, ScanOptions } from './finding.js';
import { surest } from './overlaps.js';
import { dateOfBirth, isBirthName, isBirthWord, OTHER_BIRTH_WORDS } from './recognizers/date-of-birth.js';
import { digitGroups } from './recognizers/digit-groups.js';
import { emailAddress } from './recognizers/email-address.js';
import { iban } from './recognizers/iban.js';
import { nationalCodes, nationalNumbers } from './recognizers/national-ids.js';
import { ipv4, ipv6, macAddress } from './recognizers/network-address.js';
import { paymentCard } from './recognizers/payment-card.js';
import { internationalNumber, nationalNumber } from './recognizers/phone-number.js';
import {
  isSecretName, isSecretText, OTHER_SECRET_WORDS, prefixedKey, privateKey, secretBehind, startsLikeKey,
} from './recognizers/secret.js';
import { TermTree } from './recognizers/terms.js';
import { urlWithCredentials } from './recognizers/url.js';
import { walletAddress } from './recognizers/wallet-address.js';
import { beginsHere, isDigit, isWord, Scan, Work, wordAt } from './scan.js';

const [AT, COLON, PLUS, OPEN, HYPHEN, BLANK, DOT] = [0x40, 0x3a, 0x2b, 0x28, 0x2d, 0x20, 0x2e];

/**
 * Finds personal data and secrets in a text, in time linear in its length. Names of people, postal addresses and what is encoded or
 * spelled out are not found.
 *
 * @param work counts what it took; with a limit, a text that needs more is given up
 * @returns sorted by place and without overlaps: where two meet, the surer one stays, else the longer
 * @throws WorkLimit
 */
export function scanText(text: string, options: ScanOptions = {}, work = new Work()): Finding[] {
  const { entities = ENTITY_TYPES, allow = [], terms = [], context = '', isName = false } = options;
  const scan = new Scan(text, typesIn(entities), context, work);
  work.spend(text.length / 100);
  walk(scan);
  otherScripts(scan);
  if (terms.length > 0 && scan.wants('TERM')) termTree(terms).find(scan);
  if (context !== '' && !isName) byName(scan);
  const found = surest(scan.found);
  if (allow.length === 0 || found.length === 0) return found;
  const allowed = new Set(allow.map((value) => value.toLowerCase()));
  return found.filter(({ start, end }) => !allowed.has(text.slice(start, end).toLowerCase()));
}

/** The texts of a call are looked through for the same. */
const typesIn = madeOnce((entities: readonly EntityType[]): ReadonlySet<EntityType> => new Set(entities));
const termTree = madeOnce((terms: readonly string[]) => new TermTree(terms));

/** One pass: every recognizer is asked where its values can begin, and looks at a bounded piece from there. */
function walk(scan: Scan): void {
  const { text } = scan;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (isWord(code)) {
      at = word(scan, at);
      continue;
    }
    if (code === AT) emailAddress(scan, at);
    else if (code === COLON && text.startsWith('://', at)) {
      at = urlWithCredentials(scan, at);
      continue;
    } else if (code === HYPHEN && text.startsWith('-----BEGIN ', at)) {
      at = Math.max(at + 1, privateKey(scan, at));
      continue;
    } else if (code === PLUS && (isDigit(text.charCodeAt(at + 1)) || text.charCodeAt(at + 1) === OPEN)) internationalNumber(scan, at);
    else if (code === OPEN && isDigit(text.charCodeAt(at + 1))) nationalNumber(scan, at);
    at++;
  }
}

/** @returns behind the word */
function word(scan: Scan, start: number): number {
  const { text } = scan;
  const { end, hasDigit } = wordAt(text, start);
  if (startsLikeKey(text, start)) {
    const behind = prefixedKey(scan, start);
    if (behind > end) return behind;
  }
  if (hasDigit) valueWithDigits(scan, start, end);
  else {
    const next = text.charCodeAt(end);
    const joins = next === COLON || next === DOT || next === HYPHEN;
    if (joins && end - start <= 4 && /^[0-9a-f]+$/i.test(text.slice(start, end))) addresses(scan, start);
    // `AB 12 34 56 C`, `X-1234567-L`
    if ((next === BLANK || next === HYPHEN) && end - start <= 2 && isDigit(text.charCodeAt(end + 1))) nationalCodes(scan, start);
  }
  if (end - start >= 2 && end - start <= 40) {
    secretBehind(scan, start, end);
    if (isBirthWord(text, start, end)) dateOfBirth(scan, start, end);
  }
  return end;
}

function valueWithDigits(scan: Scan, start: number, end: number): void {
  const { text } = scan;
  const isNumber = isDigit(text.charCodeAt(start));
  addresses(scan, start);
  if (end - start >= 26 || text.startsWith('0x', start)) walletAddress(scan, start);
  if (!beginsHere(text, start)) return;
  if (!isNumber) iban(scan, start);
  nationalCodes(scan, start);
  if (!isNumber) return;
  ipv4(scan, start);
  for (const groups of digitGroups(text, start)) {
    if (groups.digits.length < 8) continue;
    paymentCard(scan, groups);
    nationalNumbers(scan, groups);
  }
  // A bracket or a plus sign before it has been looked at already.
  const before = text.charCodeAt(start - 1);
  if (before !== PLUS && before !== OPEN) nationalNumber(scan, start);
}

function addresses(scan: Scan, start: number): void {
  scan.work.spend(1);
  macAddress(scan, start);
  ipv6(scan, start);
}

/** Hebrew to Thai and beyond, and those of East Asia; most texts have none of their characters. */
const OTHER_SCRIPTS = /[\u0590-\u1fff\u3040-\ud7af]/;

/** Keywords of scripts that write without blanks. */
function otherScripts(scan: Scan): void {
  if (!OTHER_SCRIPTS.test(scan.text)) return;
  for (const { index, 0: keyword } of scan.text.matchAll(OTHER_SECRET_WORDS)) secretBehind(scan, index, index + keyword.length);
  for (const { index, 0: keyword } of scan.text.matchAll(OTHER_BIRTH_WORDS)) dateOfBirth(scan, index, index + keyword.length);
}

/** The name of a member says what its whole text is, and so do those around it, and a label beside it. */
function byName(scan: Scan): void {
  if (scan.context.split('\n').some(isBirthName)) dateOfBirth(scan, 0, 0);
  if (isSecretText(scan.text) && expectsSecret(scan.context)) scan.add('SECRET', 0, scan.text.length, 0.8);
}

/** Whether the names of members around a text say that the whole of it is a secret. */
export function expectsSecret(context: string): boolean {
  const names = context.split('\n');
  // Words of a label further away are a sentence: "forgot my password".
  return names.some((name, index) => (index === names.length - 1 || !name.includes(' ')) && isSecretName(name));
}
