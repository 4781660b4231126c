import { LAST_LETTER } from './scan.js';

const SIZE = 4096;

const LOWER = new Uint16Array(LAST_LETTER + 1);
for (let code = 0; code <= LAST_LETTER; code++) {
  const lower = String.fromCharCode(code).toLowerCase();
  LOWER[code] = lower.length === 1 ? lower.charCodeAt(0) : code;
}

/**
 * Beginnings or endings of words, by which most words of a text are put aside without a piece of it being made. It may say that one stands
 * where none does, and never the other way round: whoever asks looks again.
 */
export class Syllables {
  private readonly known = new Uint8Array(SIZE);
  private readonly length: 2 | 3;
  private readonly isAsItIs: boolean;

  /** @param syllables all of two letters, or all of three; in lower case, unless they count as they are */
  constructor(syllables: readonly string[], letters: 'in any case' | 'as they are' = 'in any case') {
    this.length = syllables[0]!.length === 2 ? 2 : 3;
    this.isAsItIs = letters === 'as they are';
    for (const syllable of syllables) this.known[this.slotOf(syllable, 0)] = 1;
  }

  /** Whether one of them may stand here. */
  mayBeAt(text: string, start: number): boolean {
    return start >= 0 && this.known[this.slotOf(text, start)] === 1;
  }

  private slotOf(text: string, start: number): number {
    const two = this.letterAt(text, start) * 37 + this.letterAt(text, start + 1);
    return (this.length === 2 ? two : two * 37 + this.letterAt(text, start + 2)) & (SIZE - 1);
  }

  private letterAt(text: string, at: number): number {
    const code = text.charCodeAt(at);
    return this.isAsItIs || !(code <= LAST_LETTER) ? code | 0 : LOWER[code]!;
  }
}
