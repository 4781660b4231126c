import { createPatch, type Operation } from 'rfc6902';
import type { JsonObject, JsonValue } from '../json.js';

/** Characters of paths that a diff may have: a body has 256 KiB, and a diff should be no multiple of what it describes. */
const PATHS_MAX = 256 * 1024;
/** Characters of an operation besides its path and value. */
const FRAME = 32;

/**
 * The RFC 6902 patch from one input to another. Arrays are compared index by index, without their common beginning and end: the
 * library's shortest sequence takes time and memory by the product of their lengths. Where the paths alone would outgrow the input, a
 * whole object or array is replaced.
 */
export function editDiff(from: JsonObject, to: JsonObject): Operation[] {
  return between(from, to, 0, { left: PATHS_MAX, alike: new Alike() });
}

/** How many characters of paths are left, and which values are known to be equal. */
interface Budget {
  left: number;
  readonly alike: Alike;
}

/**
 * Numbers values by their content: equal numbers, equal values. Each part is read once, however often and at however many depths it is
 * compared; comparing texts would read the innermost part again at each depth around it.
 */
class Alike {
  private readonly byContent = new Map<string, number>();
  private readonly byIdentity = new WeakMap<object, number>();

  isSame(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
    return this.numberOf(one) === this.numberOf(other);
  }

  private numberOf(value: JsonValue | undefined): number {
    if (!isContainer(value)) return this.numberOfContent(JSON.stringify(value) ?? '');
    const known = this.byIdentity.get(value);
    if (known !== undefined) return known;
    const number = this.numberOfContent(this.contentOf(value));
    this.byIdentity.set(value, number);
    return number;
  }

  private contentOf(value: JsonObject | JsonValue[]): string {
    if (Array.isArray(value)) return `[${value.map((item) => this.numberOf(item)).join()}`;
    return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${this.numberOf(value[key])}`).join()}`;
  }

  private numberOfContent(content: string): number {
    const known = this.byContent.get(content) ?? this.byContent.size;
    this.byContent.set(content, known);
    return known;
  }
}

/** @param base length of the path that leads here */
function between(from: JsonValue, to: JsonValue, base: number, budget: Budget): Operation[] {
  return createPatch(from, to, (a: JsonValue, b: JsonValue, pointer) => {
    if (!isContainer(a) || !isContainer(b)) return undefined;
    if (budget.alike.isSame(a, b)) return [];
    const path = pointer.toString();
    budget.left -= (membersOf(a) + membersOf(b)) * (base + path.length + FRAME);
    if (budget.left < 0) return [{ op: 'replace', path, value: b }];
    if (!Array.isArray(a) || !Array.isArray(b)) return undefined;
    return betweenArrays(a, b, budget.alike, path, (one, other, index) =>
      between(one, other, base + path.length, budget).map((operation) => ({ ...operation, path: `${path}/${index}${operation.path}` })));
  });
}

type Between = (one: JsonValue, other: JsonValue, index: number) => Operation[];

function betweenArrays(a: readonly JsonValue[], b: readonly JsonValue[], alike: Alike, path: string, pair: Between): Operation[] {
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && alike.isSame(a[head], b[head])) head++;
  let tail = 0;
  while (tail < shorter - head && alike.isSame(a[a.length - 1 - tail], b[b.length - 1 - tail])) tail++;
  const operations: Operation[] = [];
  for (let i = head; i < shorter - tail; i++) operations.push(...pair(a[i]!, b[i]!, i));
  // Removed from behind, added in order: no index moves under another.
  for (let i = a.length - tail - 1; i >= b.length - tail; i--) operations.push({ op: 'remove', path: `${path}/${i}` });
  for (let i = a.length - tail; i < b.length - tail; i++) operations.push({ op: 'add', path: `${path}/${i}`, value: b[i] });
  return operations;
}

function isContainer(value: unknown): value is JsonObject | JsonValue[] {
  return typeof value === 'object' && value !== null;
}

function membersOf(value: JsonObject | JsonValue[]): number {
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}
