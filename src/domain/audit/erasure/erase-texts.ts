import type { JsonValue } from '../../json.js';
import { ERASED } from '../entry/read-entry.js';
import type { TextMatcher } from './text-matcher.js';

/** A matching text goes whole: the words around a name may show whose it was. */
export function eraseText(text: string, holds: TextMatcher): string {
  return holds(text) ? ERASED : text;
}

/** Each element by itself. @returns the same list where nothing matches */
export function eraseList(texts: readonly string[], holds: TextMatcher): readonly string[] {
  return texts.some((text) => holds(text)) ? texts.map((text) => eraseText(text, holds)) : texts;
}

/**
 * Erases each matching text, number and key: of `{"to": "jo@example.org", "amount": 5}` the amount stays. Keys stay apart, so that no
 * member is lost. @returns the same value where nothing matches
 */
export function eraseJson(value: JsonValue, holds: TextMatcher): JsonValue {
  if (typeof value === 'string') return eraseText(value, holds);
  if (typeof value === 'number') return holds(String(value)) ? ERASED : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const elements = value.map((one) => eraseJson(one, holds));
    return elements.every((one, i) => one === value[i]) ? value : elements;
  }
  const members = Object.entries(value);
  const erased = members.map(([key, inner]) => [eraseText(key, holds), eraseJson(inner, holds)] as const);
  if (erased.every(([key, inner], i) => key === members[i]![0] && inner === members[i]![1])) return value;
  const taken = new Set(members.flatMap(([key], i) => (erased[i]![0] === key ? [key] : [])));
  return Object.fromEntries(erased.map(([key, inner], i) => [key === members[i]![0] ? key : free(key, taken), inner]));
}

function free(key: string, taken: Set<string>): string {
  let name = key;
  for (let n = 2; taken.has(name); n++) name = `${key} ${n}`;
  taken.add(name);
  return name;
}
