import type { JsonValue } from '../../json.js';
import { ERASED } from '../entry/read-entry.js';
import type { TextMatcher } from './text-matcher.js';

/** A text that holds it goes whole: what stands around a name tells whose it was. */
export function eraseText(text: string, holds: TextMatcher): string {
  return holds(text) ? ERASED : text;
}

/** Of a list each element by itself. @returns the same list where nothing of it holds it */
export function eraseList(texts: readonly string[], holds: TextMatcher): readonly string[] {
  return texts.some((text) => holds(text)) ? texts.map((text) => eraseText(text, holds)) : texts;
}

/**
 * In a JSON value each text, number and key that holds it, and nothing beside: of `{"to": "jo@example.org", "amount": 5}` the
 * amount stays. Keys stay apart, so that no member is lost where two of them go.
 *
 * @returns the same value where nothing of it holds it
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
