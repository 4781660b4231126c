import { isJsonObject, type JsonObject } from '../../json.js';
import { findingInTree, type Finding } from '../integrity/findings.js';
import { PLATFORM_TREE, readCheckpoint } from '../notes/checkpoint.js';
import type { LogSource, ShownAnchor, ShownTree } from '../integrity/log-source.js';
import { parseCanonical } from '../entry/payload.js';
import { mapLeaf, mapKeyOf, type OrganizationHead } from './organization-map.js';
import { hashText, readHash, sameHash } from './rfc6962.js';
import { lookUp } from './stored-map-nodes.js';
import type { CheckpointVerifier } from '../notes/verify-checkpoints.js';
import type { Notable } from '../integrity/verify-entries.js';
import type { MapFound } from './verify-map.js';
import type { OrganizationTreeFound, PlatformFound, TreeFound } from './verify-tree.js';

/** A checkpoint that somebody has kept outside of the database. */
export interface KeptCheckpoint extends ShownTree {
  readonly note: string;
  /** Who has it, as the subject of a sentence. */
  readonly by: string;
}

export function keptByAnchors(anchors: readonly ShownAnchor[]): KeptCheckpoint[] {
  return anchors.map(({ name, size, root, note }) => ({ tree: PLATFORM_TREE, size, root, note, by: `the anchor ${name}` }));
}

/** Reads remembered checkpoints of this installation. @throws Error for a note that is no checkpoint */
export function keptByCaller(notes: readonly string[], instance: string): KeptCheckpoint[] {
  return notes.flatMap((note) => {
    const text = note.slice(0, note.indexOf('\n\n') + 1);
    const read = readCheckpoint(text);
    if (!read) throw new Error('what was remembered is no checkpoint');
    const [name, tree, ...more] = read.origin.split('/');
    return name === instance && tree !== undefined && more.length === 0
      ? [{ tree, size: read.size, root: read.root, note, by: 'the checkpoint remembered' }]
      : [];
  });
}

/** Holds a tree against what others have kept of it. A recovery names the one state that was given up. */
export function* againstKept(
  found: TreeFound, kept: readonly KeptCheckpoint[], verifier: CheckpointVerifier, recoveries: readonly JsonObject[],
): Generator<Finding> {
  const given = recoveries.flatMap(({ lost }) => verifier.givenUp(lost) ?? []);
  const isGivenUp = (size: number, root: string) => given.some((one) => one.size === size && one.root === root);
  for (const { tree, size, root, note, by } of kept) {
    if (tree !== found.tree) continue;
    const wrong = verifier.wrongWith(note, tree, undefined, { size, root });
    if (wrong !== undefined) yield findingInTree(tree, size, 'checkpoint_invalid', `cannot be held against ${by}, which ${wrong}`);
    else if (tree === PLATFORM_TREE && isGivenUp(size, root)) continue;
    else if (size > found.size) {
      yield findingInTree(tree, found.size, 'truncated', `has ${found.size} leaves, and ${by} has seen ${size}: this is an older state`);
    } else if (found.roots.get(size) !== root) {
      yield findingInTree(tree, size, 'tree_mismatch', `had another root at ${size} leaves than ${by} has seen: the history was rewritten`);
    }
  }
}

/** The newest state of the platform's tree must be signed: leaf and signature are made in one transaction. */
export function* againstSignature({ tree, size, newest }: PlatformFound): Generator<Finding> {
  if (size === (newest?.size ?? 0)) return;
  const what = newest ? `is signed at ${newest.size} leaves` : 'is signed nowhere';
  yield findingInTree(tree, size, 'checkpoint_invalid', `has ${size} leaves, and ${what}: its newest checkpoint is missing`);
}

/** The keys that are said to sign now: the one that the log announced last where that is known; otherwise, those that are not retired. */
export function signingNow(
  ownTree: OrganizationTreeFound | undefined, rotations: readonly Notable[], verifier: CheckpointVerifier,
): readonly string[] {
  const announced = announcedKey(ownTree, rotations);
  return announced === undefined ? verifier.unretired : [announced];
}

/** As far as it is under the checkpoint. */
function announcedKey(ownTree: OrganizationTreeFound | undefined, rotations: readonly Notable[]): string | undefined {
  const announced = rotations.filter(({ seq }) => seq <= (ownTree?.ownSeqCovered ?? 0)).sort((a, b) => a.seq - b.seq).at(-1);
  const key = announced?.metadata['keyId'];
  return typeof key === 'string' ? key : undefined;
}

/**
 * The key that the log announced last, under the checkpoint, must have signed the newest checkpoints; where the installation's own chain is
 * not read, the keys that are not retired: a rotation signs all of them by both.
 */
export function* againstAnnouncedKey(
  trees: readonly TreeFound[], ownTree: OrganizationTreeFound | undefined, rotations: readonly Notable[], verifier: CheckpointVerifier,
): Generator<Finding> {
  const isAnnounced = announcedKey(ownTree, rotations) !== undefined;
  const wanted = signingNow(ownTree, rotations, verifier);
  if (wanted.length === 0 || (!isAnnounced && !verifier.hasRetired)) return;
  const which = isAnnounced ? 'announced last' : 'that signs now';
  for (const { tree, newest } of trees) {
    if (!newest || wanted.some((one) => verifier.isSignedBy(newest.note, tree, one))) continue;
    yield findingInTree(tree, newest.size, 'checkpoint_invalid', `has a newest checkpoint that the key ${which} has not signed`);
  }
}

/** The newest leaf's map, or what is wrong with the leaf. */
function mapOf({ last, size }: PlatformFound): { map: string } | Finding {
  const leaf = last === undefined ? undefined : parseCanonical(last);
  if (isJsonObject(leaf) && typeof leaf['map'] === 'string' && readHash(leaf['map']) && typeof leaf['timestamp'] === 'string') {
    return { map: leaf['map'] };
  }
  return findingInTree(PLATFORM_TREE, Math.max(0, size - 1), 'tree_mismatch', 'ends with a leaf that is none');
}

/** The whole map was computed anew from the heads in it, which is what was signed; each organization must be signed as it stands there. */
export function* againstWholeMap(
  map: MapFound, platform: PlatformFound, trees: ReadonlyMap<string, OrganizationTreeFound>,
): Generator<Finding> {
  if (platform.size > 0) {
    const said = mapOf(platform);
    if ('kind' in said) yield said;
    else if (hashText(map.root) !== said.map) {
      const what = 'ends with another map than that of the organizations: one of them was changed, removed or added';
      yield findingInTree(PLATFORM_TREE, platform.size - 1, 'tree_mismatch', what);
    }
  }
  const carried = new Map(map.heads.map((head) => [head.organization, head]));
  for (const id of new Set([...carried.keys(), ...trees.keys()])) yield* againstHead(id, trees.get(id), carried.get(id));
}

/** One organization by its path. Without a checkpoint it must show that the map has no leaf: both could have been deleted. */
export async function againstMapPath(
  source: LogSource, platform: PlatformFound, id: string, tree: OrganizationTreeFound | undefined,
): Promise<Finding[]> {
  const head = await source.mapHead(id);
  const breaks = [...againstHead(id, tree, head)];
  if (platform.size === 0) return breaks;
  const said = mapOf(platform);
  if ('kind' in said) return [...breaks, said];
  const { leaf, root } = await lookUp({ contents: (keys) => source.mapContents(keys) }, mapKeyOf(id));
  const isSame = head ? leaf !== undefined && sameHash(leaf, mapLeaf(head)) : leaf === undefined;
  if (isSame && hashText(root) === said.map) return breaks;
  const what = head ? "is not in the platform's tree with the root that it has"
    : 'has no place in the map, and the map that was signed does not show that it had none: something of it was signed, and taken away';
  return [...breaks, findingInTree(id, tree?.size ?? 0, 'tree_mismatch', what)];
}

function* againstHead(id: string, tree: OrganizationTreeFound | undefined, head: OrganizationHead | undefined): Generator<Finding> {
  if (!tree) {
    if (head) yield findingInTree(id, 0, 'chain_removed', `is gone: the platform's tree carries it with ${head.size} leaves`);
    return;
  }
  const { newest, size } = tree;
  if (!head && !newest) return;
  if (!newest) yield findingInTree(id, size, 'checkpoint_invalid', 'has no signed checkpoint, and the map carries it');
  else if (head?.size !== newest.size || head.root !== newest.root) {
    const what = head ? `carries ${head.size} leaves of it, its newest checkpoint ${newest.size}` : 'does not carry it';
    yield findingInTree(id, newest.size, 'checkpoint_invalid', `is not signed as the platform's tree has it, which ${what}`);
  }
}
