import { isJsonObject } from '../json.js';
import { commitmentDigest, committedText, type Disclosure } from './commitments.js';
import { isCanonical, type Commitment } from './payload.js';
import { pointerSteps } from './pointer.js';

/** d, pointer, salt, value. */
const OPEN_MEMBERS = 4;
/** d, pointer, erased. */
const BLANK_MEMBERS = 3;
/** base64url of 16 bytes in its one spelling: any other length would let salt and text be cut apart elsewhere and still give the digest. */
const SALT = /^[A-Za-z0-9_-]{21}[AQgw]$/;

/**
 * Holds an entry's disclosures against its commitments: each commitment has exactly one, in its place, and every value
 * opens its digest. Of a part (`areSome`) some may be withheld. Returns the digests whose values were blanked, which only an erasure
 * entry can excuse, or what is wrong.
 */
export function checkDisclosures(text: string, commitments: readonly Commitment[], areSome = false): string[] | string {
  const disclosures = readDisclosures(text);
  if (typeof disclosures === 'string') return disclosures;

  const open = new Map<string, Commitment>();
  for (const commitment of commitments) {
    for (const digest of commitment.digests) {
      if (open.has(digest)) return 'one commitment stands in two places';
      open.set(digest, commitment);
    }
  }
  const blanks: string[] = [];
  let previous = '';
  for (const disclosure of disclosures) {
    const { d, pointer } = disclosure;
    if (pointer < previous) return 'its disclosures are out of order';
    previous = pointer;
    const commitment = open.get(d);
    if (!commitment) return `the value at ${pointer} answers to no commitment of the entry`;
    open.delete(d);
    const steps = pointerSteps(pointer);
    if (!steps || !standsAt(steps, commitment)) return `the value at ${pointer} stands in the wrong place`;
    if (disclosure.erased) blanks.push(d);
    else if (!opens(disclosure, steps)) return `the value at ${pointer} is not the one that was committed to`;
  }
  const [missing] = areSome ? [] : open.values();
  return missing ? `a value of ${missing.steps.join('.')} is missing` : blanks;
}

function readDisclosures(text: string): Disclosure[] | string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
    // A text with doubled names or spaces could be read in two ways.
    if (JSON.stringify(parsed) !== text) return 'its disclosures are not in their stored form';
  } catch {
    return 'its disclosures are not JSON';
  }
  if (!Array.isArray(parsed)) return 'its disclosures are not a list';
  return parsed.every(isDisclosure) ? parsed : 'a disclosure is malformed';
}

function isDisclosure(one: unknown): one is Disclosure {
  if (!isJsonObject(one) || typeof one['d'] !== 'string' || typeof one['pointer'] !== 'string') return false;
  const { length } = Object.keys(one);
  if (length === BLANK_MEMBERS && one['erased'] === true) return true;
  return length === OPEN_MEMBERS && typeof one['salt'] === 'string' && typeof one['value'] === 'string';
}

function standsAt(steps: readonly string[], commitment: Commitment): boolean {
  return (
    steps.length === (commitment.kind === 'value' ? 2 : 3) &&
    steps[0] === commitment.steps[0] &&
    steps[1] === commitment.steps[1]
  );
}

function opens({ d, salt, value }: Disclosure, steps: readonly string[]): boolean {
  if (salt === undefined || value === undefined) return false;
  if (!SALT.test(salt) || !isCanonical(value)) return false;
  return commitmentDigest(Buffer.from(salt, 'base64url'), committedText(steps[2], value)) === d;
}
