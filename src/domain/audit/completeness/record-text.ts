import { hash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue, readJson } from '../../json.js';
import { canonical } from '../entry/jcs.js';
import type { Blanks, OpenEntry } from '../entry/open-entry.js';
import { outputSummary } from '../entry/output-summary.js';
import { ERASED, isErasedName } from '../entry/read-entry.js';

/** A text up to this length stands for itself: no digest is shorter. */
const SHORT = 43;

/** What entries say of a text that a row shows: its brief; null for no text; undefined where the text is erased; or what is left. */
export type RecordedText = string | null | undefined | RecordedMembers;

/** A text that is a JSON object, committed member by member, of which an erasure has taken some, in the entry or in the row. */
export interface RecordedMembers {
  /** The brief of each value, by the name of the member; undefined where the entry's value is erased. */
  readonly values: ReadonlyMap<string, string | undefined>;
  /** Members whose names are erased in the entry, too. */
  readonly nameless: number;
}

export type RecordedTexts = Readonly<Record<string, RecordedText>>;

/** Whether the row holds the mark of an erasure in the text of this name, and the text differs from the one with this brief. */
export type IsErasedInRow = (name: string, brief: string) => boolean;

/** Under which name a row shows a text, and which member of an entry's metadata has the text. */
export type TextMembers = Readonly<Record<string, string>>;

const ACTION: TextMembers = { input: 'input', context: 'context', action: 'action' };

/** Texts in each kind of entry. `requestedInput` is shown by a request that was edited. */
export const TEXTS = {
  started: ACTION,
  asked: { ...ACTION, reasons: 'reasons' },
  requested: { ...ACTION, reasons: 'reasons', requestedInput: 'input' },
  edited: { input: 'input', diff: 'diff' },
  closed: { output: 'outputSummary', error: 'error' },
  reported: { output: 'output', error: 'error' },
  settled: { note: 'note' },
  decided: { note: 'comment' },
  escalated: { escalationReason: 'reason' },
  erasure: { reason: 'reason' },
  task: { input: 'input', description: 'description' },
  secret: {},
  grant: {},
} as const;

/** Members whose value is a text and no JSON. */
const WORDS: ReadonlySet<string> = new Set(['action', 'comment', 'description', 'note', 'outputSummary', 'reason']);
/** Texts of rows that are no JSON. */
const SHOWN_WORDS: ReadonlySet<string> = new Set(['action', 'description', 'note', 'escalationReason', 'reason', 'editor']);
/** Texts of rows whose entries commit to each member. The output of an execution is committed whole, as a summary. */
const BY_MEMBER: ReadonlySet<string> = new Set(['input', 'requestedInput', 'context', 'output']);

/** Of a text itself where it is short, otherwise its SHA-256: what is compared, and all that is kept of a text. */
export function brief(text: string): string {
  return text.length <= SHORT ? `=${text}` : hash('sha256', text, 'base64url');
}

/** The brief of a text that a row shows. Entries have the beginning of an execution's output. */
export function briefOfShown(kind: string, name: string, shown: string): string {
  return brief(kind === 'execution' && name === 'output' ? outputSummary(shown) : shown);
}

/** Whether a row's text holds the mark of an erasure: as the whole of a text of words, as a text, number or name of JSON. */
export function holdsErasedMark(name: string, shown: string): boolean {
  return SHOWN_WORDS.has(name) ? shown === ERASED : hasMark(shown);
}

/** Reads the texts of a row from an entry. */
export function recordedTexts(opened: OpenEntry, members: TextMembers, isErasedInRow: IsErasedInRow): Record<string, RecordedText> {
  return Object.fromEntries(Object.entries(members).map(([shown, name]) => [shown, recordedText(opened, shown, name, isErasedInRow)]));
}

/** Whether a row's text agrees with what the entries say. What is erased on either side agrees with anything. */
export function isSameText(kind: string, name: string, shown: string | null, recorded: RecordedText): boolean {
  if (recorded === undefined) return true;
  if (recorded === null || shown === null) return recorded === shown;
  return typeof recorded === 'string' ? briefOfShown(kind, name, shown) === recorded : haveSameMembers(shown, recorded);
}

function recordedText({ metadata, erased }: OpenEntry, shown: string, name: string, isErasedInRow: IsErasedInRow): RecordedText {
  const value = metadata[name];
  if (value === undefined) return null;
  const blanks = erased.get(name);
  if (blanks?.isWhole) return undefined;
  const text = brief(typeof value === 'string' && WORDS.has(name) ? value : canonical(value));
  if (!blanks && !isErasedInRow(shown, text)) return text;
  return BY_MEMBER.has(shown) && isJsonObject(value) ? recordedMembers(value, blanks) : undefined;
}

function recordedMembers(value: JsonObject, blanks: Blanks | undefined): RecordedMembers {
  const named = Object.entries(value).filter(([name]) => !blanks?.nameless.has(name));
  return {
    values: new Map(named.map(([name, one]) => [name, blanks?.names.has(name) ? undefined : brief(canonical(one))])),
    nameless: blanks?.nameless.size ?? 0,
  };
}

/** Erasing keeps the number of members; the value under an erased name must be the entry's under a name that the row lacks. */
function haveSameMembers(shown: string, { values, nameless }: RecordedMembers): boolean {
  const row = readJson(shown);
  if (!isJsonObject(row) || canonical(row) !== shown || Object.keys(row).length !== values.size + nameless) return false;
  const missing = new Map(values);
  const [unnamed, unknown]: JsonValue[][] = [[], []];
  for (const [name, value] of Object.entries(row)) {
    if (!values.has(name)) (isErasedName(name) ? unnamed : unknown)!.push(value);
    else if (isSameValue(value, values.get(name))) missing.delete(name);
    else return false;
  }
  if (unknown!.length > nameless) return false;
  const free = nameless - unknown!.length;
  const others = [...missing.values()];
  return unnamed!.filter((value) => !others.some((one) => isSameValue(value, one))).length <= free;
}

function isSameValue(value: JsonValue, recorded: string | undefined): boolean {
  const text = canonical(value);
  return recorded === undefined || hasMark(text) || brief(text) === recorded;
}

function hasMark(json: string): boolean {
  return json.includes(`"${ERASED}"`);
}
