import { isJsonObject, type JsonObject, type JsonValue } from '../../../json.js';
import { ERASED } from '../../entry/read-entry.js';
import { Forms, showNothingElse } from './erased-members.js';
import { ERASED_NAME, type Told, type ToldObject } from './told-json.js';
import type { Work } from './work.js';

class TooMuch extends Error {}

/**
 * Whether a value is what erasing may have left of a told one. Erasing takes texts, numbers and names whole, and nothing beside them: a
 * text in which the mark stands among other words is a text like any. Lists keep their length, objects as many members as they had.
 */
export function isLeftOf(shown: JsonValue, told: Told, work: Work): boolean {
  return new Comparison(work).isLeftOf(shown, told);
}

class Comparison {
  private readonly forms: Forms;
  /** Within members that are tried against each other. */
  private isTrying = false;

  constructor(private readonly work: Work) {
    this.forms = new Forms(work);
  }

  isLeftOf(shown: JsonValue, told: Told): boolean {
    this.step();
    if (told.kind === 'anything') return true;
    if (told.kind === 'list') {
      const { elements, isCut } = told;
      if (!Array.isArray(shown) || (isCut ? shown.length < elements.length : shown.length !== elements.length)) return false;
      return elements.every((one, n) => this.isLeftOf(shown[n]!, one));
    }
    if (told.kind === 'object') return isJsonObject(shown) && this.areLeft(shown, told);
    if (shown === ERASED && !/^[tfn]/.test(told.text)) return true;
    if (typeof shown === 'object' && shown !== null) return false;
    const text = JSON.stringify(shown);
    return told.isCut ? text.startsWith(told.text) : text === told.text;
  }

  /**
   * Members with the same name are compared with each other. Of the others, each told one must have a shown one of its own whose name
   * is erased, and no shown one may be left over, but for those of which the entry tells nothing.
   */
  private areLeft(shown: JsonObject, { members, nameless, isCut }: ToldObject): boolean {
    const all = Object.entries(shown);
    const named = new Map(all.filter(([name]) => !ERASED_NAME.test(name)));
    const hidden = all.filter(([name]) => ERASED_NAME.test(name)).map(([, value]) => value);
    const others: Told[] = [];
    for (const [name, value] of members) {
      const same = named.get(name);
      if (same === undefined) others.push(value);
      else if (!this.isLeftOf(same, value)) return false;
      named.delete(name);
    }
    if (isCut) {
      const last = members.at(-1)?.[0] ?? '';
      return [...named.keys()].every((name) => name >= last) && this.areMatched(others, hidden);
    }
    return named.size <= nameless && named.size + hidden.length === others.length + nameless && this.areMatched(others, hidden);
  }

  /**
   * Whether each told value has a shown one of its own that may be left of it: no name says any more which. Where that takes too many
   * tries, it is only asked whether the shown ones say anything that the told ones do not.
   */
  private areMatched(allTold: readonly Told[], allShown: readonly JsonValue[]): boolean {
    const { told, shown } = this.forms.withoutEqual(allTold, allShown);
    if (told.length > shown.length) return false;
    if (told.length === 0 || this.isTrying) return this.arePaired(told, shown);
    this.isTrying = true;
    try {
      return this.arePaired(told, shown);
    } catch (problem) {
      if (problem instanceof TooMuch) return showNothingElse(shown, told, this.work);
      throw problem;
    } finally {
      this.isTrying = false;
    }
  }

  private arePaired(told: readonly Told[], shown: readonly JsonValue[]): boolean {
    const takenBy = new Map<number, number>();
    const fitting = new Map<number, boolean>();
    const fits = (t: number, s: number): boolean => {
      const pair = t * shown.length + s;
      const fit = fitting.get(pair) ?? this.isLeftOf(shown[s]!, told[t]!);
      fitting.set(pair, fit);
      return fit;
    };
    // Erasing numbers names in their order, so mostly each has its own at the same place.
    const find = (t: number, isFound: (s: number) => boolean): boolean => {
      for (let i = 0; i < shown.length; i++) {
        this.step();
        if (isFound((t + i) % shown.length)) return true;
      }
      return false;
    };
    const take = (t: number, s: number): boolean => (takenBy.set(s, t), true);
    const place = (t: number, tried: Set<number>): boolean =>
      find(t, (s) => !takenBy.has(s) && fits(t, s) && take(t, s))
      || find(t, (s) => !tried.has(s) && fits(t, s) && (tried.add(s), place(takenBy.get(s)!, tried)) && take(t, s));
    return told.every((_, t) => place(t, new Set()));
  }

  private step(): void {
    this.work.step();
    if (this.isTrying && this.work.isSpent) throw new TooMuch();
  }
}
