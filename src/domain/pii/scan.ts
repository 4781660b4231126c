import type { EntityType } from './entity-types.js';
import type { Finding } from './finding.js';
import { isAnyBefore, isAnyBehind, isNear, type WordsBefore, wordsBefore } from './context-words.js';

/** The scan was to take less work than the text needs. */
export class WorkLimit extends Error {
  override readonly name = 'WorkLimit';
}

/**
 * Counts what a scan does, in units of about a microsecond. Time would depend on the machine: by this count a test shows that the scan is
 * linear, and a server decides before it is held up that a text belongs into a thread.
 */
export class Work {
  units = 0;

  /** @param limit default: none */
  constructor(private readonly limit = Number.POSITIVE_INFINITY) {}

  /** @throws WorkLimit */
  spend(units: number): void {
    this.units += units;
    if (this.units > this.limit) throw new WorkLimit();
  }
}

/** A text that is being scanned, and what was found in it. Recognizers look at bounded pieces of it, so that the whole is linear. */
export class Scan {
  readonly found: Finding[] = [];
  /** Where the telephone number that was found last ends: its last groups alone are none. */
  endOfPhone = 0;
  /** Where words were looked for last: recognizers ask one after the other about the same number. */
  private before: { readonly start: number; readonly isAny: boolean; words?: WordsBefore } = { start: -1, isAny: false };
  private behind = { end: -1, isAny: false };

  /** @param context what stands before the text */
  constructor(readonly text: string, private readonly types: ReadonlySet<EntityType>, readonly context: string, readonly work: Work) {}

  wants(type: EntityType): boolean {
    return this.types.has(type);
  }

  add(type: EntityType, start: number, end: number, score: number): void {
    if (this.types.has(type)) this.found.push({ type, start, end, score });
  }

  /** Whether words nearby say that a value is of this type. */
  hasContext(type: EntityType, start: number, end: number): boolean {
    if (!this.types.has(type)) return false;
    if (this.before.start !== start) {
      this.work.spend(3);
      this.before = { start, isAny: isAnyBefore(this, start) };
    }
    if (!this.before.isAny && this.behind.end !== end) {
      this.work.spend(2);
      this.behind = { end, isAny: isAnyBehind(this, end) };
    }
    this.work.spend(0.2);
    if (!this.before.isAny && !this.behind.isAny) return false;
    this.work.spend(5);
    this.before.words ??= wordsBefore(this, start);
    return isNear(this, type, this.before.words, end);
  }

  /** A match of a sticky expression that begins here. */
  matchAt(expression: RegExp, start: number): RegExpExecArray | null {
    this.work.spend(0.2);
    expression.lastIndex = start;
    return expression.exec(this.text);
  }
}

const DIGIT = 1;
const LETTER = 2;
const UNDERSCORE = 4;
/** Letters of the alphabets that separate words by blanks: Latin, Greek, Cyrillic. */
export const LAST_LETTER = 0x52f;

const KINDS = new Uint8Array(LAST_LETTER + 1);
for (let code = 0; code <= LAST_LETTER; code++) {
  const character = String.fromCharCode(code);
  KINDS[code] = /[0-9]/.test(character) ? DIGIT : /\p{L}|\p{M}/u.test(character) ? LETTER : character === '_' ? UNDERSCORE : 0;
}

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

export function isLetter(code: number): boolean {
  return code <= LAST_LETTER && KINDS[code] === LETTER;
}

/** Whether a word goes on with this character. */
export function isWord(code: number): boolean {
  return code <= LAST_LETTER && KINDS[code] !== 0;
}

/** What a word that begins here is: where it ends, and whether it has a digit. */
export function wordAt(text: string, start: number): { readonly end: number; readonly hasDigit: boolean } {
  let [end, kinds] = [start, 0];
  for (let code = text.charCodeAt(end); code <= LAST_LETTER && KINDS[code] !== 0; code = text.charCodeAt(++end)) kinds |= KINDS[code]!;
  return { end, hasDigit: (kinds & DIGIT) !== 0 };
}

/** By which parts of one identifier are joined, as in UUIDs, paths, versions and order numbers. */
function joins(code: number): boolean {
  return code === 0x2d || code === 0x2e || code === 0x2f || code === 0x3a || code === 0x2b || code === 0x23 || code === 0x3d ||
    code === 0x5c;
}

/** Whether an identifier may begin here: what stands before is not a part of it. */
export function beginsHere(text: string, start: number): boolean {
  if (start === 0) return true;
  const before = text.charCodeAt(start - 1);
  if (isWord(before)) return false;
  if (!joins(before) || start === 1) return true;
  const further = text.charCodeAt(start - 2);
  if (!isWord(further)) return before !== 0x2f && before !== 0x5c;
  // `ssn:123`, `ssn=123` and `Tel.030` begin a value; `12:30`, `ORD-123`, `v1.2` and `orders/123` do not.
  return (before === 0x3a || before === 0x3d || before === 0x2e) && !isDigit(further);
}

/** Whether an identifier may end here. */
export function endsHere(text: string, end: number): boolean {
  const after = text.charCodeAt(end);
  if (Number.isNaN(after)) return true;
  if (isWord(after)) return false;
  return !(joins(after) && isWord(text.charCodeAt(end + 1)) && !(after === 0x2e && !isDigit(text.charCodeAt(end + 1))));
}
