import { hash } from 'node:crypto';
import { isJsonObject, type JsonValue } from '../../json.js';
import { MAX_COMMITTED_MEMBERS } from '../commitments.js';
import { jcs } from '../jcs.js';
import { ERASED } from '../read-entry.js';

/** Texts up to so many characters stand for themselves: no digest is shorter. */
const SHORT = 43;
/** What erasing leaves of a key; numbered where several went. */
const ERASED_KEY = /^\[erased\](?: \d+)?$/;

/** What a text comes to where something may have been erased of it: then each member of an object is compared by itself. */
export interface Sketch {
  readonly whole: string;
  /** Something of it is erased, and it has no members that could be told apart. */
  readonly isErased: boolean;
  /** By name; null where something of the value is erased. */
  readonly members?: ReadonlyMap<string, string | null>;
  /** Some names are erased, too. */
  readonly hidesNames: boolean;
}

/** What entries say of a text: its `brief`, or what is left of it; null: there is none; undefined: nobody can tell any more. */
export type ToldText = string | Sketch | null | undefined;

/** What is kept of a text until it is compared: itself where that is short, otherwise its SHA-256. */
export function brief(text: string): string {
  return text.length <= SHORT ? `=${text}` : hash('sha256', text, 'base64url');
}

/** @param isErased whether `[erased]` in it stands for what was erased, and not for itself */
export function sketchOf(text: string, isErased: boolean): Sketch {
  const holds = (one: string) => isErased && one.includes(ERASED);
  const whole = brief(text);
  const object = objectIn(text);
  if (!object) return { whole, isErased: holds(text), hidesNames: false };
  const members = new Map<string, string | null>();
  let hidesNames = false;
  for (const [name, value] of object) {
    if (isErased && ERASED_KEY.test(name)) hidesNames = true;
    // Both sides are parsed here and written here, so any form of the value will do.
    const written = JSON.stringify(value);
    members.set(brief(name), holds(written) || (isErased && ERASED_KEY.test(name)) ? null : brief(written));
  }
  return { whole, isErased: false, members, hidesNames };
}

/** Whether a row shows what its entries say. What is erased on one side agrees with anything, and nothing beside it does. */
export function agree(shown: string | null, told: ToldText): boolean {
  if (told === undefined) return true;
  if (typeof told === 'object' && told !== null) return told.isErased || (shown !== null && fits(sketchOf(shown, true), told));
  return shown === null || told === null ? shown === told : brief(shown) === told;
}

/** The canonical text of a value that somebody may have tampered with: what has no canonical form gets another. */
export function canonical(value: unknown): string {
  try {
    return jcs(value);
  } catch {
    return `~${String(JSON.stringify(value))}`;
  }
}

function fits(shown: Sketch, told: Sketch): boolean {
  if (shown.whole === told.whole || shown.isErased) return true;
  if (!shown.members || !told.members) return false;
  for (const [name, value] of shown.members) {
    const said = told.members.get(name);
    if (said === undefined ? value !== null && !told.hidesNames : value !== null && said !== null && value !== said) return false;
  }
  for (const [name, value] of told.members) if (value !== null && !shown.members.has(name) && !shown.hidesNames) return false;
  return true;
}

function objectIn(text: string): [string, JsonValue][] | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const parsed = JSON.parse(text) as JsonValue;
    const members = isJsonObject(parsed) ? Object.entries(parsed) : [];
    return isJsonObject(parsed) && members.length <= MAX_COMMITTED_MEMBERS ? members : undefined;
  } catch {
    return undefined;
  }
}
