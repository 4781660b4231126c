import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';

/**
 * Characters that show nothing, or show text otherwise than it is: controls, marks of direction, zero-width ones, separators of lines,
 * halves of characters, blanks that count as letters; and the bracket by which they are shown.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u27e6]/gu;
const HIDDEN_BUT_BREAKS = /[^\P{Cc}\n\t]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u27e6]/gu;

const SUMMARY = 200;
const SUMMARY_TEXT = 60;

/** A text over several lines in which every character can be seen: a right-to-left override reads `⟦U+202E⟧`. */
export function visible(text: string): string {
  return text.replace(HIDDEN_BUT_BREAKS, named);
}

/** The same in one line, for names and subjects: line breaks and tabs are named, too. @param max characters: then `…` */
export function oneLine(text: string, max = 200): string {
  return cut(cut(text, max).replace(HIDDEN, named), max);
}

/** The first characters of a text, never half of one. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const characters = Array.from(text.slice(0, 2 * max + 2));
  return characters.length <= max && text.length <= 2 * max + 2 ? text : `${characters.slice(0, max - 1).join('')}…`;
}

/** What would run, as JSON that shows every character. */
export function shownInput(input: JsonObject): string {
  return visible(JSON.stringify(input, null, 2));
}

/** What would run, in a line of at most 200 characters: members by name, texts cut, lists and objects by their size. */
export function inputSummary(input: JsonObject): string {
  const members = Object.entries(input).map(([name, value]) => `${cut(name, SUMMARY_TEXT)}: ${summary(value)}`);
  return oneLine(members.length === 0 ? '{}' : members.join(', '), SUMMARY);
}

function summary(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.length}]`;
  if (isJsonObject(value)) return `{${Object.keys(value).length}}`;
  return typeof value === 'string' ? JSON.stringify(cut(value, SUMMARY_TEXT)) : String(value);
}

function named(character: string): string {
  return `⟦U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟧`;
}
