import type { Blanks, OpenEntry } from '../entry/open-entry.js';
import type { IsErased, RecordedTexts } from './record-claim.js';
import { brief, canonical, sketchOf, type TextForm, type ToldText } from './superseded/shown-text.js';

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
export const FIRST_TEXTS: Places = { requestedInput: 'input' };
export const COMMENTED_TEXTS: Places = { note: 'comment' };
export const ESCALATED_TEXTS: Places = { escalationReason: 'reason' };
export const SETTLED_TEXTS: Places = { note: 'note' };
export const ERASURE_TEXTS: Places = { reason: 'reason' };

/** Reads the texts of an entry, to be compared with what the row shows. */
export function textsIn({ metadata, erased }: OpenEntry, places: Places, isErased: IsErased): Texts {
  const texts: Texts = {};
  for (const [shown, name] of Object.entries(places)) {
    texts[shown] = toldText(metadata[name], name, erased.get(name), (said) => isErased(shown, said));
  }
  return texts;
}

/**
 * Those of which not all is told any more, or not all shown: they are compared by themselves, and the others by sums. So what is kept
 * grows with what was erased, and with nothing that anybody writes.
 */
export function parted(texts: RecordedTexts): { apart: RecordedTexts | undefined; summed: Record<string, string | null> } {
  const [apart, summed]: [Texts, Record<string, string | null>] = [{}, {}];
  for (const [name, text] of Object.entries(texts)) {
    if (typeof text === 'string' || text === null) summed[name] = text;
    else apart[name] = text;
  }
  return { apart: Object.keys(apart).length > 0 ? apart : undefined, summed };
}

function toldText(value: unknown, name: string, blanks: Blanks | undefined, isErased: (said: string) => boolean): ToldText {
  if (value === undefined) return null;
  const form = (typeof value === 'string' && FORMS[name]) || 'json';
  const text = form === 'json' ? canonical(value) : (value as string);
  const said = brief(text);
  return blanks || isErased(said) ? sketchOf(text, form, blanks) : said;
}
