import type { JsonValue } from '../../json.js';
import { findingAt, type Finding } from './findings.js';
import type { Blank } from './verify-chain.js';
import type { Notable } from './verify-entries.js';

const UNSIGNED_ERASURE =
  'says that values were erased, and is not signed by the key that signs now: no server that has the key has erased them';

/** What is wrong with a value that is gone, as the end of a sentence about its entry. */
export const UNLISTED_BLANK = 'lost a value that no erasure entry that is signed accounts for as it stands';

/**
 * A value may be gone only where a sound entry of an erasure lists it. Anybody who may append can append such an entry, so it counts only
 * if it is signed, and an unsigned one is named, also while nothing that it lists is blank. Blanks and erasures are of one organization.
 */
export function* againstErasures(
  blanks: ReadonlyMap<string, Blank['entry']>, erasures: readonly Notable[], isSigned: (erasure: Notable) => boolean,
): Generator<Finding> {
  const erased = new Set<string>();
  const counted = new Set<string>();
  for (const erasure of erasures) {
    const { id, metadata } = erasure;
    if (counted.has(id) || !isSigned(erasure)) yield findingAt(erasure, 'unauthorised_erasure', UNSIGNED_ERASURE);
    else for (const blank of blanksListed(metadata['erased'])) erased.add(blank);
    counted.add(id);
  }
  for (const [blank, entry] of blanks) if (!erased.has(blank)) yield findingAt(entry, 'unauthorised_erasure', UNLISTED_BLANK);
}

/** Of what an erasure lists: entry hash, and the digests of each value and of where its blank stands. */
export function blanksListed(erased: JsonValue | undefined): string[] {
  const listed = Array.isArray(erased) ? erased : [];
  return listed.flatMap((one) => (Array.isArray(one) && one.every((part) => typeof part === 'string') ? one.join(' ') : []));
}
