import type { JsonObject } from '../../json.js';
import { findingAt, type Finding } from '../integrity/findings.js';
import { platformChain } from '../entry/chain.js';
import { PLATFORM_TREE } from './checkpoint.js';
import type { ShownKey } from '../integrity/log-source.js';
import { leadsTo, Succession, type NextKey } from './key-succession.js';
import type { Notable } from '../integrity/verify-entries.js';

/** What the entry of a rotation says; undefined where it names no key. */
export function announcedBy({ keyId: key, keyNote: note }: JsonObject): NextKey | undefined {
  return typeof key === 'string' ? { key, note: typeof note === 'string' ? note : undefined } : undefined;
}

/** The announcements that count, oldest first: of the installation's own chain, and each vouched for by the key before it. */
export function announcedIn(rotations: readonly Notable[], instance: string): { counted: readonly Notable[]; breaks: readonly Finding[] } {
  const own = platformChain();
  const said = rotations.filter(({ organizationId, chain }) => organizationId === own.organizationId && chain === own.chain);
  const succession = new Succession(instance);
  const counted: Notable[] = [];
  const breaks: Finding[] = [];
  for (const one of said.sort((a, b) => a.seq - b.seq)) {
    const announced = announcedBy(one.metadata);
    if (announced && succession.take(announced)) counted.push(one);
    else breaks.push(findingAt(one, 'checkpoint_invalid', 'announces a key for which the key before it has not vouched'));
  }
  return { counted, breaks };
}

/** Whether the keys as they are kept have followed one another, each vouched for by the one before, which then signed no more. */
export function* againstSuccession(keys: readonly ShownKey[], instance: string): Generator<Finding> {
  const succession = new Succession(instance);
  for (const [n, one] of keys.entries()) {
    const [signs, isLast] = [one.retiredAtSize === undefined, n === keys.length - 1];
    if (!succession.take(one)) yield ofKey(one, 'follows one that has not vouched for it');
    else if (signs && !isLast) yield ofKey(one, 'is kept as one that signs now, and another has followed it');
    else if (!signs && isLast) yield ofKey(one, 'is the last one, and kept as one that signs no more');
  }
}

/** Whether who signs now, as it is kept, is this key, or one to which notes lead from it. */
export function* againstOwnKey(keys: readonly ShownKey[], ownKey: string, instance: string): Generator<Finding> {
  for (const one of keys) {
    if (one.retiredAtSize !== undefined || one.key === ownKey || leadsTo(keys, ownKey, one.key, instance)) continue;
    yield ofKey(one, "is kept as the one that signs now, and is none for which this server's key (AUDIT_SIGNING_KEY) has vouched");
  }
}

export function ofKey({ key, fromSize }: ShownKey, what: string): Finding {
  return { chain: PLATFORM_TREE, position: fromSize, entryId: null, kind: 'checkpoint_invalid', detail: `the key ${key} ${what}` };
}
