import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';
import { ERASED, isErasedName } from '../read-entry.js';

/** What erasing leaves of a name; numbered where several went. */
const ERASED_NAME = /^\[erased\](?: \d+)?$/;

/** A JSON value as an entry tells it: of what is cut off there is a beginning, of what is erased nothing. */
export type Told =
  | { readonly kind: 'anything' }
  | { readonly kind: 'scalar'; readonly text: string; readonly isCut: boolean }
  | { readonly kind: 'list'; readonly elements: readonly Told[]; readonly isCut: boolean }
  | ToldObject;

interface ToldObject {
  readonly kind: 'object';
  readonly members: readonly (readonly [name: string, value: Told])[];
  /** Where it has members that are not told: since they are in order, what is cut off is behind the others. */
  readonly more: 'nowhere' | 'behind' | 'anywhere';
}

/**
 * Whether a value is what erasing may have left of a told one. Erasing takes texts, numbers and names whole, and nothing beside them: a
 * text in which the mark stands among other words is a text like any. Lists keep their length, objects as many members as they had.
 */
export function isLeftOf(shown: JsonValue, told: Told): boolean {
  if (told.kind === 'anything') return true;
  if (told.kind === 'list') {
    const { elements, isCut } = told;
    if (!Array.isArray(shown) || (isCut ? shown.length < elements.length : shown.length !== elements.length)) return false;
    return elements.every((one, n) => isLeftOf(shown[n]!, one));
  }
  if (told.kind === 'object') return isJsonObject(shown) && areLeft(shown, told);
  if (shown === ERASED && !/^[tfn]/.test(told.text)) return true;
  if (typeof shown === 'object' && shown !== null) return false;
  const text = JSON.stringify(shown);
  return told.isCut ? text.startsWith(told.text) : text === told.text;
}

/**
 * Members with the same name are compared with each other. Of the others, each told one must have a shown one of its own whose name
 * is erased, and no shown one may be left over.
 */
function areLeft(shown: JsonObject, { members, more }: ToldObject): boolean {
  const all = Object.entries(shown);
  const named = new Map(all.filter(([name]) => !ERASED_NAME.test(name)));
  const hidden = all.filter(([name]) => ERASED_NAME.test(name)).map(([, value]) => value);
  const nameless: Told[] = [];
  for (const [name, value] of members) {
    const same = named.get(name);
    if (same === undefined) nameless.push(value);
    else if (!isLeftOf(same, value)) return false;
    named.delete(name);
  }
  const last = more === 'behind' ? (members.at(-1)?.[0] ?? '') : '';
  if (more === 'nowhere' ? named.size > 0 : [...named.keys()].some((name) => name < last)) return false;
  return (more === 'nowhere' ? hidden.length === nameless.length : hidden.length >= nameless.length) && areMatched(nameless, hidden);
}

/** Whether each told value has a shown one of its own that may be left of it: no name says any more which. */
function areMatched(told: readonly Told[], shown: readonly JsonValue[]): boolean {
  const fitting = told.map((one) => shown.flatMap((value, s) => (isLeftOf(value, one) ? [s] : [])));
  const takenBy = new Map<number, number>();
  const place = (t: number, tried: Set<number>): boolean => {
    const free = fitting[t]!.find((s) => !takenBy.has(s));
    const found = free ?? fitting[t]!.find((s) => !tried.has(s) && (tried.add(s), place(takenBy.get(s)!, tried)));
    if (found !== undefined) takenBy.set(found, t);
    return found !== undefined;
  };
  return told.every((_, t) => place(t, new Set()));
}

/**
 * @param text canonical JSON
 * @param isCut whether it may end too early
 */
export function readTold(text: string, isCut: boolean): Told {
  return new Reader(text, isCut).value();
}

/** The same where something of the value was erased in the entry: it whole, or some of its members, with their names or without. */
export function withErased(told: Told): Told {
  if (told.kind !== 'object') return orAnything(told);
  const named = told.members.filter(([name]) => !isErasedName(name));
  const more = named.length < told.members.length ? 'anywhere' : told.more;
  return { kind: 'object', members: named.map(([name, value]) => [name, orAnything(value)] as const), more };
}

function orAnything(told: Told): Told {
  return told.kind === 'scalar' && told.text === JSON.stringify(ERASED) ? { kind: 'anything' } : told;
}

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
    return { kind: 'object', members, more: isWhole ? 'nowhere' : 'behind' };
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
