/** Code points of a password (NIST SP 800-63B-4, section 3.1.1.2 asks for 8 at least; ours are longer). */
export const PASSWORD_MIN = 12;
export const PASSWORD_MAX = 256;
/** Fewer different characters are one pattern that is repeated. */
const DIFFERENT_MIN = 5;
/** Shorter parts of an address occur in too many words. */
const OWN_MIN = 4;
/** Characters around a common word; more than these are no decoration any more. */
const AROUND_MAX = 8;
const PRODUCT = 'countersign';

export type PasswordRefusal = 'too_short' | 'too_long' | 'not_text' | 'too_uniform' | 'about_oneself' | 'common';

/** What is known of whose password it is to be. */
export interface PasswordOwner {
  readonly email?: string | null;
  readonly name?: string | null;
}

/** The one spelling under which a password is kept and compared: composed characters (Unicode NFC), so that keyboards do not matter. */
export function normalPassword(text: string): string {
  return text.normalize('NFC');
}

/**
 * Why a text is no password for this person; undefined when it is one. No rule about kinds of characters: they make passwords
 * that are hard to remember and not hard to guess.
 *
 * @param common words in lower case: what people choose most
 */
export function passwordRefusal(text: string, owner: PasswordOwner, common: ReadonlySet<string>): PasswordRefusal | undefined {
  // Half a character, or one that no keyboard makes: whatever is stored of it could never be typed again.
  if (/[\p{Cc}\p{Cs}]/u.test(text)) return 'not_text';
  const normal = normalPassword(text);
  const points = [...normal];
  if (points.length < PASSWORD_MIN) return 'too_short';
  if (points.length > PASSWORD_MAX) return 'too_long';
  const folded = normal.toLowerCase();
  if (new Set(folded).size < DIFFERENT_MIN) return 'too_uniform';
  if (ownWords(owner).some((word) => folded.includes(word))) return 'about_oneself';
  return isCommon(folded, common) ? 'common' : undefined;
}

function ownWords({ email, name }: PasswordOwner): string[] {
  const local = email?.toLowerCase().split('@')[0] ?? '';
  const names = (name ?? '').normalize('NFC').toLowerCase();
  return [PRODUCT, local, names, names.replace(/\s+/g, '')].filter((word) => word.length >= OWN_MIN);
}

function isCommon(folded: string, common: ReadonlySet<string>): boolean {
  return isWord(folded, common) || isWord(repeatedPart(folded), common);
}

function isWord(text: string, common: ReadonlySet<string>): boolean {
  if (common.has(text)) return true;
  const word = text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
  return text.length - word.length <= AROUND_MAX && common.has(word);
}

/** The shortest text of which this one is made by repeating it; itself, where there is none. */
function repeatedPart(text: string): string {
  const at = (text + text).indexOf(text, 1);
  return text.slice(0, at);
}
