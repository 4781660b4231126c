import { findingInTree, type Finding } from '../integrity/findings.js';
import { platformChain } from '../entry/chain.js';
import type { LogHeader, ShownKey } from '../integrity/log-source.js';
import { leadsTo, type NextKey } from './key-succession.js';
import type { CheckpointVerifier } from './verify-checkpoints.js';
import type { Notable } from '../integrity/verify-entries.js';
import { announcedBy, ofKey } from './verify-key-succession.js';
import type { OrganizationTreeFound, TreeFound } from '../tree/verify-tree.js';

// A verifier who pins keys believes these and no others. After a rotation older checkpoints carry the key before alone. The owner of the
// database can make a key that vouches for a pinned one, and cannot change entries under a checkpoint of a pinned key. So a key before
// counts, as retired, where such a checkpoint covers its announcement.

/** The header with pinned keys, and the keys before them, which `againstPinned` has still to find announced. */
export function pinnedHeader(header: LogHeader, pinned: readonly string[]): LogHeader {
  const before = keysBefore(header, pinned);
  const keys = header.keys.flatMap((one) => (pinned.includes(one.key) ? one : before.find(({ key }) => key === one.key) ?? []));
  return { ...header, keptKeys: header.keys, keys, keysBefore: before.map(({ key }) => key) };
}

/** The header where announcements are not read. @throws Error where one chain alone is asked for, and other keys have signed before */
export function pinnedAlone(header: LogHeader, pinned: readonly string[], agentId: string | undefined): LogHeader {
  const before = keysBefore(header, pinned).map(({ key }) => key);
  if (agentId !== undefined && before.length > 0) {
    const who = before.length === 1 ? 'another key has' : `${before.length} other keys have`;
    throw new Error(`${who} signed this log before those given, which one agent's chain does not show: `
      + `give each of them, too, if you know them (${before.join(', ')}), or verify all chains`);
  }
  return { ...header, keptKeys: header.keys, keys: header.keys.filter(({ key }) => pinned.includes(key)) };
}

function keysBefore({ keys, instance }: LogHeader, pinned: readonly string[]): ShownKey[] {
  const isBefore = (one: string) => !pinned.includes(one) && pinned.some((key) => leadsTo(keys, one, key, instance));
  return keys.filter(({ key }) => isBefore(key)).map((one) => ({ ...one, retiredAtSize: one.retiredAtSize ?? one.fromSize }));
}

/** What was read of a log, as far as it is needed here. */
export interface ReadOfKeys {
  readonly header: LogHeader;
  readonly trees: readonly TreeFound[];
  readonly ownTree: OrganizationTreeFound | undefined;
  /** Announcements that count, oldest first. */
  readonly rotations: readonly Notable[];
}

/**
 * Where keys before the pinned ones are believed, too: each tree must end with a checkpoint that a pinned key has signed, and these cover
 * the announcement of each key before, the last one being of a pinned key; of those that were swept, notes lead to the oldest that is left.
 */
export function* againstPinned({ header, trees, ownTree, rotations }: ReadOfKeys, verifier: CheckpointVerifier): Generator<Finding> {
  const { keys, keptKeys = keys, keysBefore: before = [], cutPoints, instance } = header;
  if (before.length === 0) return;
  const pinned = keys.filter(({ key }) => !before.includes(key));
  for (const { tree, newest } of trees) {
    if (!newest || pinned.some(({ key }) => verifier.isSignedBy(newest.note, tree, key))) continue;
    yield findingInTree(tree, newest.size, 'checkpoint_invalid', 'has a newest checkpoint that none of the keys given has signed');
  }
  const covered = rotations.filter(({ seq }) => seq <= (ownTree?.ownSeqCovered ?? 0));
  const announced = covered.flatMap(({ metadata }) => announcedBy(metadata) ?? []);
  const last = keptKeys.find(({ key }) => key === announced.at(-1)?.key);
  if (last && before.includes(last.key)) yield ofKey(last, 'is the one that the log announced last, and none of those given');
  const isCut = cutPoints.some(({ chain }) => chain === platformChain().chain);
  for (const one of keptKeys.filter(({ key }) => before.includes(key))) {
    if (announced.some(({ key }) => key === one.key) || (isCut && leadsToOldest(one.key, keptKeys, announced, instance))) continue;
    yield ofKey(one, 'is none of those given, and is not announced under a checkpoint that one of them has signed');
  }
}

/** Whether a key of which the announcement is gone has led to the oldest that is left; where none is left, the rows have shown to whom. */
function leadsToOldest(key: string, kept: readonly ShownKey[], announced: readonly NextKey[], instance: string): boolean {
  const [oldest] = announced;
  if (!oldest) return true;
  const gone = kept.filter((one) => !announced.some((other) => other.key === one.key));
  return leadsTo([...gone, oldest], key, oldest.key, instance);
}
