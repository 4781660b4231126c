import { isJsonObject, parseJson } from '../../json.js';
import { commitmentDigest, committedText, pointerDigest, type Disclosure } from './commitments.js';
import { isCanonical, type Commitment } from './payload.js';
import { pointerSteps } from './json-pointer.js';

/** d, pointer, salt, and value or erased. */
const MEMBERS = 4;
/** base64url of 16 bytes in its one spelling: any other length would let salt and text be cut apart elsewhere and still give the digest. */
const SALT = /^[A-Za-z0-9_-]{21}[AQgw]$/;
const LONE_SURROGATE = /[\uD800-\uDFFF]/u;

/**
 * Compares disclosures with commitments: each commitment has exactly one, at its pointer, which opens its digest, and no two have one.
 * Returns what is wrong, or the blanked values, each as its digest and that of its pointer, which only an erasure entry excuses.
 */
export function checkDisclosures(text: string, commitments: readonly Commitment[]): string[] | string {
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
    if (pointer <= previous) return 'its disclosures are out of order, or two of them stand in one place';
    previous = pointer;
    const commitment = open.get(d);
    if (!commitment) return `the value at ${pointer} answers to no commitment of the entry`;
    open.delete(d);
    const steps = pointerSteps(pointer);
    if (!steps || !standsAt(steps, commitment)) return `the value at ${pointer} stands in the wrong place`;
    if (disclosure.erased && !SALT.test(disclosure.salt)) return `what was erased at ${pointer} has no salt`;
    if (disclosure.erased) blanks.push(`${d} ${pointerDigest(disclosure)}`);
    else if (!opens(disclosure, steps)) return `the value at ${pointer} is not the one that was committed to`;
  }
  const [missing] = open.values();
  return missing ? `a value of ${missing.steps.join('.')} is missing` : blanks;
}

function readDisclosures(text: string): Disclosure[] | string {
  let parsed: unknown;
  try {
    parsed = parseJson(text);
    // A text with doubled names or spaces could be read in two ways.
    if (JSON.stringify(parsed) !== text) return 'its disclosures are not in their stored form';
  } catch {
    return 'its disclosures are not JSON';
  }
  if (!Array.isArray(parsed)) return 'its disclosures are not a list';
  return parsed.every(isDisclosure) ? parsed : 'a disclosure is malformed';
}

function isDisclosure(one: unknown): one is Disclosure {
  if (!isJsonObject(one) || Object.keys(one).length !== MEMBERS) return false;
  const { d, pointer, salt, value, erased } = one;
  return [d, pointer, salt].every((text) => typeof text === 'string') && (erased === true || typeof value === 'string');
}

function standsAt(steps: readonly string[], commitment: Commitment): boolean {
  return (
    !steps.some((step) => LONE_SURROGATE.test(step)) &&
    steps.length === (commitment.kind === 'value' ? 2 : 3) &&
    steps[0] === commitment.steps[0] &&
    steps[1] === commitment.steps[1]
  );
}

/** Whether a value is the one that was committed to, under the name at which it stands. */
export function opens({ d, salt, value }: Disclosure, steps: readonly string[]): boolean {
  if (value === undefined || !SALT.test(salt) || !isCanonical(value)) return false;
  return commitmentDigest(Buffer.from(salt, 'base64url'), committedText(steps[2], value)) === d;
}
