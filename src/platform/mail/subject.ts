/** In bytes of text, so that an encoded word has at most 75 characters (RFC 2047, section 2). */
const WORD_BYTES = 45;

/**
 * A subject as it is to be sent: one that holds what looks like an encoded word (RFC 2047) would be shown as what that stands for, and
 * not as the text that was judged, and so is encoded as a whole. The mail library encodes others where they need it.
 */
export function sentSubject(subject: string): string {
  if (!subject.includes('=?')) return subject;
  const words = [''];
  for (const sign of subject) {
    if (Buffer.byteLength(words.at(-1)! + sign) > WORD_BYTES) words.push('');
    words[words.length - 1] += sign;
  }
  return words.map((word) => `=?utf-8?B?${Buffer.from(word, 'utf8').toString('base64')}?=`).join(' ');
}
