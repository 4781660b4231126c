import type { JsonValue } from '../json.js';
import { mapTexts } from './body/map-texts.js';
import { findingsIn, scanBody } from './body/scan-body.js';
import { REQUEST_SHAPES, type ProviderFamily } from './body/structural-members.js';
import { countEntity, type EntityCounts, type EntityType } from './entity-types.js';
import { valueOf } from './escapes.js';
import { Redactor } from './redactor.js';
import { Work } from './scan.js';
import type { PiiSettings } from './settings.js';

/** A call's body to be scanned. Plain data, so that a thread can take it. */
export interface CallToScan {
  /** JSON. */
  readonly body: string;
  readonly family: ProviderFamily;
  readonly settings: PiiSettings;
}

/** What came of it. Plain data, so that a thread can hand it back. */
export interface ScannedCall {
  /** JSON, with everything that was found replaced; the same text where nothing was found. */
  readonly body: string;
  /** What was found, and nothing of the values. */
  readonly counts: EntityCounts;
  /** Whether the call may not be made: something was found, and the action is `block`. */
  readonly isBlocked: boolean;
  /** Images, sound, files, and what is not known to be text, which nobody has read. */
  readonly unscanned: number;
  /** Tokens and their values, of `tokenize`: `new Map(tokens)` is what answers are read with. It must not outlive the call. */
  readonly tokens: readonly (readonly [token: string, value: string])[];
}

/**
 * Finds and replaces in a whole call, before anything of it leaves.
 *
 * @param work with a limit, a call that needs more is given up
 * @param body what the JSON says, where that has been read
 * @throws SyntaxError where the body is no JSON
 * @throws WorkLimit
 */
export function scanCall(
  { body: json, family, settings }: CallToScan, work = new Work(), body = JSON.parse(json) as JsonValue,
): ScannedCall {
  const { action, entities, allow, terms } = settings;
  const { found, unscanned } = scanBody(body, family, { entities, allow, terms }, work);
  const counts: EntityCounts = {};
  for (const { findings } of found) for (const { type } of findings) countEntity(counts, type);
  if (found.length === 0) return { body: json, counts, isBlocked: false, unscanned, tokens: [] };
  if (action === 'block') return { body: json, counts, isBlocked: true, unscanned, tokens: [] };
  const redactor = new Redactor(action);
  if (action === 'tokenize') {
    mapTexts(body, REQUEST_SHAPES[family], (text) => {
      redactor.reserve(text);
      return text;
    });
  }
  const findingsOf = new Map(found.map(({ ordinal, findings }) => [ordinal, findings]));
  const redacted = mapTexts(body, REQUEST_SHAPES[family], (text, { ordinal }) => redactor.redact(text, findingsOf.get(ordinal) ?? []));
  return { body: JSON.stringify(redacted.body), counts, isBlocked: false, unscanned, tokens: [...redactor.tokens] };
}

/** One found value, of a text that its sender sees anyway. */
export interface FoundValue {
  readonly type: EntityType;
  readonly value: string;
  /** What would stand in its place. */
  readonly redacted: string;
}

export interface ScannedText {
  readonly values: readonly FoundValue[];
  readonly text: string;
}

/**
 * What the settings would make of one text, for whoever tries them: what becomes of it in a call, where it may be JSON.
 *
 * @param work with a limit, a text that needs more is given up
 * @throws WorkLimit
 */
export function previewText(text: string, { action, entities, allow, terms }: PiiSettings, work = new Work()): ScannedText {
  const redactor = new Redactor(action);
  redactor.reserve(text);
  const values: FoundValue[] = [];
  const { body } = mapTexts(text, undefined, (part, location) => {
    const findings = findingsIn(part, location, { entities, allow, terms }, work);
    for (const finding of findings) {
      const value = valueOf(part, finding);
      values.push({ type: finding.type, value, redacted: redactor.replacement(finding.type, value) });
    }
    return redactor.redact(part, findings);
  });
  return { values, text: body as string };
}
