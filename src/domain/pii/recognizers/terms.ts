import { isWord, type Scan } from '../scan.js';

/** No term is longer; settings are checked for it. */
const TERM_MAX = 200;

interface TermNode {
  readonly next: Map<string, TermNode>;
  isEnd: boolean;
}

/** An organization's own words as a tree, so that a thousand of them cost a text no more than the longest. */
export class TermTree {
  private readonly root: TermNode = { next: new Map(), isEnd: false };

  constructor(terms: readonly string[]) {
    for (const term of terms) {
      let node = this.root;
      for (const character of folded(term)) {
        let next = node.next.get(character);
        if (!next) node.next.set(character, (next = { next: new Map(), isEnd: false }));
        node = next;
      }
      node.isEnd = term !== '';
    }
  }

  /** Every longest term of the text that is a word, or words, of its own. */
  find(scan: Scan): void {
    const { text } = scan;
    for (let start = 0; start < text.length; start++) {
      // In scripts without blanks a term may begin anywhere.
      if (!this.root.next.has(folded(text[start]!)) || (start > 0 && isWord(text.charCodeAt(start - 1)) &&
        isWord(text.charCodeAt(start)))) continue;
      const end = this.longest(scan, start);
      if (end <= start) continue;
      scan.add('TERM', start, end, 0.99);
      start = end - 1;
    }
  }

  /** Where a term may have begun whose end the text does not hold yet; else the text's length. */
  openFrom(text: string): number {
    if (this.root.next.size === 0) return text.length;
    for (let start = Math.max(0, text.length - TERM_MAX); start < text.length; start++) {
      if (start > 0 && isWord(text.charCodeAt(start - 1)) && isWord(text.charCodeAt(start))) continue;
      let node: TermNode | undefined = this.root;
      for (let at = start; at < text.length && node; at++) node = node.next.get(folded(text[at]!));
      if (node && node.next.size > 0) return start;
    }
    return text.length;
  }

  private longest({ text, work }: Scan, start: number): number {
    let node: TermNode | undefined = this.root;
    let end = -1;
    let at = start;
    while (at < text.length && (node = node.next.get(folded(text[at]!)))) {
      at++;
      if (node.isEnd && !(isWord(text.charCodeAt(at)) && isWord(text.charCodeAt(at - 1)))) end = at;
    }
    work.spend((at - start) / 20);
    return end;
  }
}

/** Unit by unit, so that offsets stay: what becomes longer in lower case stays as it is. A blank is any blank. */
function folded(text: string): string {
  return text.replace(/./gs, (unit) => {
    const lower = unit.toLowerCase();
    return lower.length === 1 ? (/\s/.test(lower) ? ' ' : lower) : unit;
  });
}
