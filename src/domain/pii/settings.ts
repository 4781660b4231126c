import { isJsonObject, type JsonValue } from '../json.js';
import { nearestName } from '../nearest-name.js';
import { ENTITY_TYPES, type EntityType } from './entity-types.js';

/**
 * What becomes of a found value: its type (`<EMAIL_ADDRESS>`), asterisks, a refusal of the whole call, or a numbered token
 * (`<EMAIL_ADDRESS_1>`) in whose place the answer gets the value back.
 */
export const PII_ACTIONS = ['redact', 'mask', 'block', 'tokenize'] as const;
export type PiiAction = (typeof PII_ACTIONS)[number];

/** What becomes of a value that the model's answer holds: it is not looked for, is counted, or is replaced by its type. */
export const PII_ANSWERS = ['off', 'report', 'redact'] as const;
export type PiiAnswers = (typeof PII_ANSWERS)[number];

/** An organization's `settings.pii`. */
export interface PiiSettings {
  /** Default `redact`. */
  readonly action: PiiAction;
  /** The types looked for. Default: all. */
  readonly entities: readonly EntityType[];
  /** Default `report`. */
  readonly answers: PiiAnswers;
  /** Values that are left as they are, compared without regard to case. At most 1,000 of 1 to 200 characters. Default: none. */
  readonly allow: readonly string[];
  /** Words found as TERM. At most 1,000 of 2 to 200 characters. Default: none. */
  readonly terms: readonly string[];
}

/** Of an organization that has set nothing. */
export const DEFAULT_PII_SETTINGS: PiiSettings = { action: 'redact', entities: ENTITY_TYPES, answers: 'report', allow: [], terms: [] };

export interface SettingsError {
  readonly pointer: string;
  readonly message: string;
}

const LIST_MAX = 1000;
const TEXT_MAX = 200;

type Check = (value: JsonValue, pointer: string) => readonly SettingsError[];

const MEMBERS: Readonly<Record<keyof PiiSettings, Check>> = {
  action: oneOf(PII_ACTIONS),
  entities: listOf(oneOf(ENTITY_TYPES), ENTITY_TYPES.length),
  answers: oneOf(PII_ANSWERS),
  allow: listOf(textOf(1), LIST_MAX),
  terms: listOf(textOf(2), LIST_MAX),
};

/**
 * What is wrong with settings that somebody sends, or nothing. Every member may be left out; what is not known is refused.
 *
 * @param pointer where the settings stand in the body, and with which each error's pointer begins
 */
export function checkPiiSettings(value: JsonValue, pointer = '/settings/pii'): readonly SettingsError[] {
  if (!isJsonObject(value)) return [{ pointer, message: 'must be an object' }];
  return Object.entries(value).flatMap(([name, member]) => {
    const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    return Object.hasOwn(MEMBERS, name) ? MEMBERS[name as keyof PiiSettings](member, at) : [unknown(name, Object.keys(MEMBERS), at)];
  });
}

/** The settings with what was left out. What is given has passed the check. */
export function piiSettings(given: Partial<PiiSettings>): PiiSettings {
  return { ...DEFAULT_PII_SETTINGS, ...given };
}

function oneOf(names: readonly string[]): Check {
  return (value, pointer) => {
    if (typeof value === 'string' && names.includes(value)) return [];
    return [typeof value === 'string' ? unknown(value, names, pointer) : { pointer, message: `must be one of ${names.join(', ')}` }];
  };
}

function listOf(element: Check, max: number): Check {
  return (value, pointer) => {
    if (!Array.isArray(value)) return [{ pointer, message: 'must be an array' }];
    if (value.length > max) return [{ pointer, message: `must have at most ${max} elements` }];
    const wrong = value.flatMap((one, index) => element(one, `${pointer}/${index}`));
    const again = value.findIndex((one, index) => value.indexOf(one) !== index);
    return wrong.length > 0 || again < 0 ? wrong : [{ pointer: `${pointer}/${again}`, message: 'stands there twice' }];
  };
}

function textOf(min: number): Check {
  return (value, pointer) => {
    if (typeof value === 'string' && value === value.trim() && value.length >= min && value.length <= TEXT_MAX) return [];
    return [{ pointer, message: `must be a text of ${min} to ${TEXT_MAX} characters without blanks at its ends` }];
  };
}

function unknown(name: string, names: readonly string[], pointer: string): SettingsError {
  const near = nearestName(name, names);
  return { pointer, message: `is not known${near === undefined ? `: use one of ${names.join(', ')}` : `: did you mean ${near}?`}` };
}
