import type { JsonValue } from '../../../json.js';
import { ERASED } from '../../entry/read-entry.js';
import { ERASED_NAME, type Told } from './told-json.js';
import type { Work } from './work.js';

/** Gives equal values the same number, told ones of which all is known and shown ones alike: each part of them is looked at once. */
export class Forms {
  private readonly numbers = new Map<string, number>();
  private readonly known = new Map<object, number | undefined>();

  constructor(private readonly work: Work) {}

  /**
   * Without those that are told and shown alike. Whatever else such a shown value may be left of, what was put in the place of its own
   * told one may be left of, too: so nothing is lost by it.
   */
  withoutEqual(told: readonly Told[], shown: readonly JsonValue[]): { told: Told[]; shown: JsonValue[] } {
    const counts = new Map<number, number>();
    if (told.length > 0) for (const value of shown) add(counts, this.ofShown(value));
    const toldLeft = told.filter((one) => !take(counts, this.ofTold(one)));
    // What is not taken of each form is left over.
    return { told: toldLeft, shown: told.length === 0 ? [...shown] : shown.filter((value) => take(counts, this.ofShown(value))) };
  }

  private ofShown(value: JsonValue): number {
    if (typeof value !== 'object' || value === null) return this.numberOf(JSON.stringify(value));
    return this.once(value, () => {
      if (Array.isArray(value)) return listForm(value.map((one) => this.ofShown(one)));
      return objectForm(Object.entries(value).map(([name, inner]) => [name, this.ofShown(inner)]));
    })!;
  }

  private ofTold(told: Told): number | undefined {
    if (told.kind === 'anything' || told.isCut) return undefined;
    if (told.kind === 'scalar') return this.numberOf(told.text);
    return this.once(told, () => {
      if (told.kind === 'list') return listForm(told.elements.map((one) => this.ofTold(one)));
      return told.nameless > 0 ? undefined : objectForm(told.members.map(([name, inner]) => [name, this.ofTold(inner)]));
    });
  }

  private once(of: object, form: () => string | undefined): number | undefined {
    if (this.known.has(of)) return this.known.get(of);
    const text = form();
    const number = text === undefined ? undefined : this.numberOf(text);
    this.known.set(of, number);
    return number;
  }

  private numberOf(form: string): number {
    this.work.step();
    let number = this.numbers.get(form);
    if (number === undefined) this.numbers.set(form, (number = this.numbers.size));
    return number;
  }
}

function listForm(elements: readonly (number | undefined)[]): string | undefined {
  return elements.includes(undefined) ? undefined : `[${elements.join(',')}`;
}

function objectForm(members: readonly (readonly [name: string, number | undefined])[]): string | undefined {
  if (members.some(([, number]) => number === undefined)) return undefined;
  return `{${members.map(([name, number]) => `${JSON.stringify(name)}:${number}`).sort().join(',')}`;
}

/**
 * Whether values say nothing but what the told ones say, wherever it stands there: each text, number, name, list and object is one of
 * theirs, and as many texts, numbers and names are erased as are missing. Of those that are not told in full nobody can tell.
 */
export function showNothingElse(shown: readonly JsonValue[], told: readonly Told[], work: Work): boolean {
  const parts = new Map<string, number>();
  if (shown.length !== told.length || !told.every((one) => addParts(one, parts, work))) return true;
  let erased = 0;
  const hasParts = (value: JsonValue): boolean => {
    work.step();
    if (value === ERASED) return ++erased > 0;
    if (typeof value !== 'object' || value === null) return take(parts, JSON.stringify(value));
    if (Array.isArray(value)) return take(parts, listOf(value.length)) && value.every(hasParts);
    const members = Object.entries(value);
    return take(parts, objectOf(members.length)) && members.every(([name, inner]) => {
      if (ERASED_NAME.test(name)) erased++;
      else if (!take(parts, nameOf(name))) return false;
      return hasParts(inner);
    });
  };
  if (!shown.every(hasParts)) return false;
  const missing = [...parts].filter(([, count]) => count > 0);
  return missing.every(([part]) => /^[":\d-]/.test(part)) && missing.reduce((sum, [, count]) => sum + count, 0) === erased;
}

/** @returns false where not all of it is told */
function addParts(told: Told, parts: Map<string, number>, work: Work): boolean {
  work.step();
  if (told.kind === 'anything' || told.isCut) return false;
  if (told.kind === 'scalar') {
    add(parts, told.text);
    return true;
  }
  if (told.kind === 'list') {
    add(parts, listOf(told.elements.length));
    return told.elements.every((one) => addParts(one, parts, work));
  }
  add(parts, objectOf(told.members.length));
  return told.nameless === 0 && told.members.every(([name, inner]) => {
    add(parts, nameOf(name));
    return addParts(inner, parts, work);
  });
}

const listOf = (length: number) => `[${length}`;
const objectOf = (length: number) => `{${length}`;
const nameOf = (name: string) => `:${name}`;

function add<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function take<Key>(counts: Map<Key, number>, key: Key | undefined): boolean {
  const count = key === undefined ? 0 : (counts.get(key) ?? 0);
  if (count > 0) counts.set(key!, count - 1);
  return count > 0;
}
