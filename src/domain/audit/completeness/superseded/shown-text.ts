import { hash } from 'node:crypto';
import { isJsonObject, type JsonValue, parseJson } from '../../../json.js';
import { jcs } from '../../entry/jcs.js';
import { isCutSummary, outputSummary } from '../../entry/output-summary.js';
import { ERASED } from '../../entry/read-entry.js';
import { isLeftOf } from './erased-json.js';
import type { Blanks } from '../../entry/open-entry.js';
import { readTold, withErased } from './told-json.js';
import { Work } from './work.js';

/** Texts up to so many characters stand for themselves: no digest is shorter. */
const SHORT = 43;

/** What a text is: words, canonical JSON, or the beginning of such, as entries have it of outputs. */
export type TextForm = 'words' | 'json' | 'summary';

/**
 * What is kept of a text of which something is erased, in its entry or its row, until it is compared. Words as their `brief`; JSON as its
 * structure, in which only what is short stands for itself: so long texts take no memory.
 */
export interface Sketch {
  readonly form: TextForm;
  readonly kept: string;
  /** What was erased of it in the entry. */
  readonly blanks: Blanks | undefined;
}

/** What entries say of a text: its `brief`, or what is left of it; null: there is none; undefined: nobody can tell any more. */
export type ToldText = string | Sketch | null | undefined;

/** What is kept of a text until it is compared: itself where that is short, otherwise its SHA-256. */
export function brief(text: string): string {
  return text.length <= SHORT ? `=${text}` : hash('sha256', text, 'base64url');
}

/** @param blanks what is erased of it in the entry */
export function sketchOf(text: string, form: TextForm, blanks: Blanks | undefined): Sketch {
  const kept = { words: brief, json: outlineOf, summary: (one: string) => one }[form];
  return { form, kept: blanks?.isWhole ? ERASED : kept(text), blanks };
}

/**
 * Whether a row shows what its entries say. What is erased of an entry agrees with anything; of a row only what erasing leaves: the
 * mark, alone, in the place of a text, a number or a name.
 *
 * @param work where steps are counted, other than in a new count
 */
export function agree(shown: string | null, told: ToldText, work?: Work): boolean {
  if (told === undefined) return true;
  if (typeof told === 'string') return shown !== null && brief(shown) === told;
  if (told === null) return shown === null;
  if (told.blanks?.isWhole) return true;
  return shown !== null && fits(shown, told, work ?? new Work(shown.length + told.kept.length));
}

/** The canonical text of a value that somebody may have tampered with: what has no canonical form gets another. Read by `parseJson`. */
export function canonical(value: unknown): string {
  try {
    return jcs(value);
  } catch {
    return `~${String(JSON.stringify(value))}`;
  }
}

/** Whether a value can be written in canonical form at all: what a server writes can. */
export function hasCanonicalForm(value: unknown): boolean {
  try {
    jcs(value);
    return true;
  } catch {
    return false;
  }
}

function fits(shown: string, { form, kept, blanks }: Sketch, work: Work): boolean {
  if (form === 'words') return shown === ERASED || brief(shown) === kept;
  if (form === 'summary' && outputSummary(shown) === kept) return true;
  try {
    const value = parseJson(shown);
    // Members that stand there twice, or white space: nobody erased that.
    if (jcs(value) !== shown) return false;
    const told = readTold(kept, form === 'summary' && isCutSummary(kept));
    return isLeftOf(form === 'json' ? outlined(value) : value, blanks ? withErased(told, outlinedNames(blanks)) : told, work);
  } catch {
    return form === 'json' && outlineOf(shown) === kept;
  }
}

/** Of what is no JSON, which only tampering brings about, its `brief`. */
function outlineOf(text: string): string {
  try {
    return JSON.stringify(outlined(parseJson(text)));
  } catch {
    return brief(text);
  }
}

/** A digest is longer than what stands for itself, so that neither passes for the other. */
function outlined(value: JsonValue): JsonValue {
  if (typeof value === 'string') return shortened(value);
  if (Array.isArray(value)) return value.map(outlined);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [shortened(name), outlined(inner)]));
}

function outlinedNames({ names, nameless }: Blanks): Pick<Blanks, 'names' | 'nameless'> {
  return { names: new Set([...names].map(shortened)), nameless };
}

function shortened(text: string): string {
  return text.length <= SHORT ? text : `#${hash('sha256', text, 'base64url')}`;
}
