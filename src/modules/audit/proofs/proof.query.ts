import { PLATFORM_TREE, type StoredCheckpoint } from '../../../domain/audit/notes/checkpoint.js';
import { line, type LineOf, type TreePath } from '../../../domain/audit/export/export-lines.js';
import type { StoredEntry } from '../../../domain/audit/entry/stored-entry.js';
import { mapKeyOf } from '../../../domain/audit/tree/organization-map.js';
import { isJsonObject, readJson } from '../../../domain/json.js';
import { rootOf } from '../../../domain/audit/tree/compact-range.js';
import { consistencyProof, inclusionProof, rangeOf } from '../../../domain/audit/tree/tree-proofs.js';
import { EMPTY_ROOT, hashText } from '../../../domain/audit/tree/rfc6962.js';
import { mapSiblings, siblingsOfNone } from '../../../domain/audit/tree/stored-map-nodes.js';
import type { OurTree } from '../../../platform/audit/anchor.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import { newestCheckpoint } from '../checkpoints/checkpoint.query.js';
import { mapSourceOf } from '../checkpoints/map.query.js';
import { leafPositionOf, platformLeafAt, readerOf } from '../checkpoints/tree-reader.query.js';

/** How an entry leads to the platform's newest checkpoint. */
export interface EntryProof {
  readonly organization: TreePath;
  readonly map: Pick<LineOf<'map'>, 'siblings' | 'timestamp'>;
  readonly platform: TreePath;
  readonly checkpoints: { readonly organization: StoredCheckpoint; readonly platform: StoredCheckpoint };
}

/** That the tree of `to` leaves continues that of `from`: hashes in base64. */
export async function consistencyOf(run: ReadStatement, tree: string, from: number, to: number): Promise<string[]> {
  return (await consistencyProof(readerOf(run, tree, to), from, to)).map(hashText);
}

/** That a leaf stands in the tree as it was when it had `size` leaves: hashes in base64. */
export async function inclusionOf(run: ReadStatement, tree: string, index: number, size: number): Promise<string[]> {
  return (await inclusionProof(readerOf(run, tree, size), index, size)).map(hashText);
}

/**
 * The proof of an entry under the newest checkpoints; undefined while it is under none yet. `run` reads as of one moment.
 *
 * @throws RangeError where the stored trees do not lead there: somebody has changed them, or a checkpoint's size
 */
export async function entryProof(
  run: ReadStatement,
  entry: Pick<StoredEntry, 'organizationId' | 'chain' | 'seq' | 'timestamp'>,
): Promise<EntryProof | undefined> {
  const { organizationId } = entry;
  const [checkpoint, index] = [await newestCheckpoint(run, organizationId), await leafPositionOf(run, organizationId, entry)];
  if (!checkpoint || index === undefined || index >= checkpoint.size) return undefined;
  const above = await abovePlatform(run, organizationId);
  if (!above) return undefined;
  const hashes = await inclusionOf(run, organizationId, index, checkpoint.size);
  const { newest, ...proven } = above;
  return { organization: { index, size: checkpoint.size, hashes }, ...proven, checkpoints: { organization: checkpoint, platform: newest } };
}

/**
 * The line of an export that ties an organization's newest checkpoint to the platform's newest one, or shows that it has none yet;
 * undefined while the platform has none, and where the map says otherwise. `run` reads as of one moment.
 */
export async function mapLine(run: ReadStatement, organizationId: string): Promise<LineOf<'map'> | undefined> {
  const checkpoint = await newestCheckpoint(run, organizationId);
  const above = await abovePlatform(run, organizationId, checkpoint ? mapSiblings : siblingsOfNone);
  if (!above) return undefined;
  const { size, root } = checkpoint ?? { size: 0, root: hashText(EMPTY_ROOT) };
  return line('map', { organizationId, size, root, ...above.map, platform: above.platform });
}

/** From an organization's leaf in the map up: the map is always that of the platform's newest leaf, and that one signed. */
async function abovePlatform(
  run: ReadStatement, organizationId: string, beside: typeof mapSiblings = mapSiblings,
): Promise<(Pick<EntryProof, 'map' | 'platform'> & { readonly newest: StoredCheckpoint }) | undefined> {
  const newest = await newestCheckpoint(run, PLATFORM_TREE);
  if (!newest) return undefined;
  const siblings = await beside(mapSourceOf(run), mapKeyOf(organizationId));
  if (!siblings) return undefined;
  const index = newest.size - 1;
  const timestamp = timeOf(await platformLeafAt(run, index));
  return {
    map: { siblings: siblings.map(([depth, hash]) => [depth, hashText(hash)] as const), timestamp },
    platform: { index, size: newest.size, hashes: await inclusionOf(run, PLATFORM_TREE, index, newest.size) },
    newest,
  };
}

/** @throws RangeError where somebody has replaced the leaf */
function timeOf(leaf: string): string {
  const read = readJson(leaf);
  if (!isJsonObject(read) || typeof read['timestamp'] !== 'string') throw new RangeError("the platform's newest leaf is none");
  return read['timestamp'];
}

/** The platform's tree as anchors are shown it; undefined while nothing of it is signed. */
export async function ourTree(run: ReadStatement): Promise<OurTree | undefined> {
  const newest = await newestCheckpoint(run);
  if (!newest) return undefined;
  const { size, root, note } = newest;
  return { newest: { size, root, note }, prove: (from) => consistencyOf(run, PLATFORM_TREE, from, size) };
}

/** The root that our tree had when it had so many leaves; it has at least as many now. */
export async function rootAt(run: ReadStatement, size: number): Promise<string> {
  return hashText(rootOf(await rangeOf(readerOf(run, PLATFORM_TREE, size), size)));
}
