import type { Blanks } from '../../entry/open-entry.js';

/** What erasing leaves of a name; numbered where several went. */
export const ERASED_NAME = /^\[erased\](?: \d+)?$/;

/** A JSON value as an entry tells it: of what is cut off there is a beginning, of what is erased nothing. */
export type Told =
  | { readonly kind: 'anything' }
  | { readonly kind: 'scalar'; readonly text: string; readonly isCut: boolean }
  | { readonly kind: 'list'; readonly elements: readonly Told[]; readonly isCut: boolean }
  | ToldObject;

export interface ToldObject {
  readonly kind: 'object';
  readonly members: readonly (readonly [name: string, value: Told])[];
  /** How many it has besides of which nothing is known. */
  readonly nameless: number;
  /** Whether it has more: since they are in order, behind the others. */
  readonly isCut: boolean;
}

/**
 * @param text canonical JSON
 * @param isCut whether it may end too early
 */
export function readTold(text: string, isCut: boolean): Told {
  return new Reader(text, isCut).value();
}

/** The same where some of its members are erased in the entry, with their names or without. */
export function withErased(told: Told, { names, nameless }: Pick<Blanks, 'names' | 'nameless'>): Told {
  if (told.kind !== 'object') return told;
  const members = told.members.flatMap(([name, value]) => {
    if (nameless.has(name)) return [];
    return [[name, names.has(name) ? ANYTHING : value] as const];
  });
  return { ...told, members, nameless: nameless.size };
}

const ANYTHING: Told = { kind: 'anything' };
const STRING = /"(?:[^"\\]|\\.)*(?:"|\\?)/sy;
const CLOSED = /^"(?:[^"\\]|\\.)*"$/s;
const WORD = /[^,\]}]*/y;

class Reader {
  private at = 0;

  constructor(private readonly text: string, private readonly mayBeCut: boolean) {}

  value(): Told {
    const first = this.text[this.at];
    if (first === undefined) return { kind: 'anything' };
    if (first === '[') return this.list();
    return first === '{' ? this.object() : this.scalar(first === '"');
  }

  private scalar(isText: boolean): Told {
    const text = this.matched(isText ? STRING : WORD);
    const isCut = this.mayBeCut && this.at >= this.text.length && !CLOSED.test(text);
    return { kind: 'scalar', text, isCut };
  }

  private list(): Told {
    const elements: Told[] = [];
    const isWhole = this.items(']', () => void elements.push(this.value()));
    return { kind: 'list', elements, isCut: !isWhole };
  }

  private object(): Told {
    const members: (readonly [string, Told])[] = [];
    const isWhole = this.items('}', () => {
      const name = this.matched(STRING);
      // Of a member whose name is cut off, nothing is known.
      if (!CLOSED.test(name)) return;
      this.at++;
      members.push([JSON.parse(name) as string, this.value()]);
    });
    return { kind: 'object', members, nameless: 0, isCut: !isWhole };
  }

  /** Whether the end of it is there. */
  private items(end: ']' | '}', read: () => void): boolean {
    this.at++;
    if (this.text[this.at] !== end) {
      do {
        if (this.at >= this.text.length) return false;
        read();
      } while (this.text[this.at++] === ',');
      this.at--;
    }
    return this.text[this.at++] === end;
  }

  private matched(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? '';
    this.at += found.length;
    return found;
  }
}
