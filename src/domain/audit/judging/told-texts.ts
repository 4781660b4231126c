import type { Blanks, OpenEntry } from './open-entry.js';
import { brief, canonical, sketchOf, type TextForm, type ToldText } from './shown-text.js';

/** Where an entry has a text: under which name rows show it, and the member that holds it. */
type Places = Readonly<Record<string, string>>;

/** Members that are no canonical JSON, and what they are; what should be a text and is none is JSON, too. */
const FORMS: Readonly<Record<string, TextForm>> = {
  action: 'words', comment: 'words', note: 'words', outputSummary: 'summary', reason: 'words',
};

export type Texts = Record<string, ToldText>;

/** What was asked. */
const ASKED = { input: 'input', context: 'context', action: 'action' };

export const CREATED_TEXTS: Places = { ...ASKED, reasons: 'reasons' };
export const EDITED_TEXTS: Places = { input: 'input', diff: 'diff' };
export const CLOSED_TEXTS: Places = { output: 'outputSummary', error: 'error' };
export const REPORTED_TEXTS: Places = { output: 'output', error: 'error' };
export const STARTED_TEXTS: Places = ASKED;

/**
 * Reads the texts of an entry, to be compared with what the row shows.
 *
 * @param isErased whether something was erased of the row: then what is left of it has to be compared
 */
export function textsIn({ metadata, erased }: OpenEntry, places: Places, isErased: boolean): Texts {
  const texts: Texts = {};
  for (const [shown, name] of Object.entries(places)) texts[shown] = toldText(metadata[name], name, erased.get(name), isErased);
  return texts;
}

/** One of them. */
export function textIn({ metadata, erased }: OpenEntry, name: string, isErased: boolean): ToldText {
  return toldText(metadata[name], name, erased.get(name), isErased);
}

/** Whether not all of it is told any more, or not all of it shown: then it is compared by itself, and not by sums. */
export function isApart(texts: Readonly<Texts>): boolean {
  return Object.values(texts).some((text) => text === undefined || (typeof text === 'object' && text !== null));
}

function toldText(value: unknown, name: string, blanks: Blanks | undefined, isErasedInRow: boolean): ToldText {
  if (value === undefined) return null;
  const form = (typeof value === 'string' && FORMS[name]) || 'json';
  const text = form === 'json' ? canonical(value) : (value as string);
  return blanks || isErasedInRow ? sketchOf(text, form, blanks) : brief(text);
}
