import type { JsonValue } from '../../json.js';
import { opens } from '../entry/check-disclosures.js';
import { blankOf, disclosuresText, pointerDigest, type Disclosure } from '../entry/commitments.js';
import { isCutSummary } from '../entry/output-summary.js';
import { pointerSteps, pointerToken } from '../entry/json-pointer.js';
import { ERASED, isErasedName } from '../entry/read-entry.js';
import type { TextMatcher } from './text-matcher.js';

/** Steps of a pointer to a member that someone named: `/metadata/input/<key>`. */
const STEPS_TO_MEMBER = 3;

/**
 * Blanks the disclosures with these digests: salt and value go, the digest in the payload stays. For digests in `erasedKeys` the key goes,
 * too, and with it the value, since the digest covers both. Carried out again it leaves the same.
 *
 * @throws TypeError where a value stands under a name that was not committed to: the blank would vouch for that name
 */
export function eraseIn(text: string, digests: ReadonlySet<string>, erasedKeys: ReadonlySet<string>): string {
  const all = readStored(text);
  const taken = new Set(all.flatMap(({ d, pointer }) => (erasedKeys.has(d) ? [] : pointer)));
  return disclosuresText(
    all.map((one) => {
      const isNameless = erasedKeys.has(one.d);
      if (!isNameless && (one.erased || !digests.has(one.d))) return one;
      if (!one.erased && !opens(one, pointerSteps(one.pointer) ?? [])) throw new TypeError(`the value at ${one.pointer} is another one`);
      return blankOf(one, isNameless ? withoutKey(one.pointer, taken) : one.pointer);
    }),
  );
}

/** The values that are blank: each as its digest and that of its pointer. */
export function blanksIn(text: string): [d: string, pointer: string][] {
  if (!text.includes('"erased":true')) return [];
  return readStored(text).flatMap((one) => (one.erased ? [[one.d, pointerDigest(one)]] : []));
}

/** Disclosures, by digest, that a text was found in. */
export interface Found {
  /** Not blank yet. */
  readonly digests: readonly string[];
  /** Those whose key holds it, blank ones too. */
  readonly erasedKeys: readonly string[];
}

/** Finds the disclosures whose value, or whose key, holds one of the texts that the test knows. */
export function findIn(text: string, holds: TextMatcher): Found {
  const digests: string[] = [];
  const erasedKeys: string[] = [];
  for (const { d, pointer, value, erased } of readStored(text)) {
    const steps = pointerSteps(pointer) ?? [];
    const key = steps.length === STEPS_TO_MEMBER ? steps[STEPS_TO_MEMBER - 1]! : ERASED;
    const inKey = !isErasedName(key) && holds(key);
    if (inKey) erasedKeys.push(d);
    if (!erased && (inKey || (value !== undefined && isIn(JSON.parse(value) as JsonValue, pointer, holds)))) digests.push(d);
  }
  return { digests, erasedKeys };
}

/** Of all that an entry says, the beginning of an output alone is cut off. */
function isIn(value: JsonValue, pointer: string, holds: TextMatcher): boolean {
  if (pointer === '/metadata/outputSummary' && typeof value === 'string') return holds(value, isCutSummary(value));
  return someText(value, holds);
}

function someText(value: JsonValue, holds: TextMatcher): boolean {
  if (typeof value === 'string') return holds(value);
  if (typeof value === 'number') return holds(String(value));
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some((one) => someText(one, holds));
  return Object.entries(value).some(([key, inner]) => holds(key) || someText(inner, holds));
}

/** A pointer without the key, which no other disclosure has. */
function withoutKey(pointer: string, taken: Set<string>): string {
  const steps = pointerSteps(pointer);
  if (steps?.length !== STEPS_TO_MEMBER) return pointer;
  const first = `/${[...steps.slice(0, -1), ERASED].map(pointerToken).join('/')}`;
  let free = first;
  for (let n = 2; taken.has(free); n++) free = `${first} ${n}`;
  taken.add(free);
  return free;
}

function readStored(text: string): Disclosure[] {
  return JSON.parse(text) as Disclosure[];
}
