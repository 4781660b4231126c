import { checkpointText, originOf, PLATFORM_TREE, type StoredCheckpoint } from '../../../src/domain/audit/notes/checkpoint.js';
import { signNote, type SigningKey } from '../../../src/domain/audit/notes/note.js';
import type { StoredLeaf } from '../../../src/domain/audit/entry/stored-entry.js';
import { tiledHashReader, type HashReader } from '../../../src/domain/audit/tree/hash-reader.js';
import { entryLeaf, platformLeaf } from '../../../src/domain/audit/tree/tree-leaf.js';
import { hashText, leafHash } from '../../../src/domain/audit/tree/rfc6962.js';
import { rangeOf } from '../../../src/domain/audit/tree/tree-proofs.js';
import { rootOf } from '../../../src/domain/audit/tree/compact-range.js';
import { storedMap, type StoredMap } from './memory-map.js';
import { tilesOf } from './memory-tree.js';

/** The trees of a log in memory, grown as the leader grows them. */
export interface MemoryTrees {
  /** Leaves by organization, in the order of its tree; what the log has beyond them is still queued. */
  readonly organizations: Map<string, StoredLeaf[]>;
  readonly map: StoredMap;
  /** The platform tree's leaves. */
  readonly platform: PlatformRound[];
  /** Signed, oldest first; of a round the platform's is the last. */
  readonly checkpoints: StoredCheckpoint[];
}

export interface PlatformRound {
  /** The leaf's text. */
  readonly data: string;
  readonly map: string;
  readonly timestamp: string;
  /** Of every organization's tree in that map. */
  readonly sizes: ReadonlyMap<string, number>;
}

const FIRST_ROUND = Date.parse('2026-11-21T10:00:00.000Z');
const CHECKPOINT_MS = 5_000;

/** The part of a log in memory that trees are grown from. */
interface GrowingLog {
  readonly leaves: readonly StoredLeaf[];
  trees?: MemoryTrees;
}

/** Takes every leaf that is still queued into its organization's tree, then the heads into the map and the platform's tree. */
export async function integrate(log: GrowingLog): Promise<MemoryTrees> {
  const trees: MemoryTrees = log.trees ?? { organizations: new Map(), map: storedMap(), platform: [], checkpoints: [] };
  log.trees = trees;
  const changed = new Set<string>();
  for (const [organizationId, leaves] of byOrganization(log.leaves)) {
    const tree = trees.organizations.get(organizationId) ?? [];
    const known = new Set(tree.map(nameOf));
    const queued = leaves.filter((one) => !known.has(nameOf(one)));
    if (queued.length === 0) continue;
    trees.organizations.set(organizationId, [...tree, ...queued]);
    changed.add(organizationId);
  }
  if (changed.size === 0) return trees;
  const heads = await Promise.all(
    [...changed].map(async (organization) => {
      const size = trees.organizations.get(organization)!.length;
      return { organization, size, root: await rootAt(trees, organization, size) };
    }),
  );
  const map = hashText(await trees.map.update(heads));
  const timestamp = new Date(FIRST_ROUND + trees.platform.length * CHECKPOINT_MS).toISOString();
  const sizes = new Map([...trees.organizations].map(([id, leaves]) => [id, leaves.length]));
  trees.platform.push({ data: platformLeaf({ map, timestamp }), map, timestamp, sizes });
  return trees;
}

/**
 * Signs what was integrated: every organization's head that has no checkpoint yet, and the platform's. The key's name is the
 * installation's. Gives the new checkpoints.
 */
export async function checkpoint(log: GrowingLog, key: SigningKey): Promise<StoredCheckpoint[]> {
  const trees = await integrate(log);
  const platformSize = trees.platform.length;
  const newest = trees.platform.at(-1);
  if (!newest) return [];
  const wanted = [...newest.sizes, [PLATFORM_TREE, platformSize] as const].filter(
    ([organizationId, size]) => !trees.checkpoints.some((one) => one.organizationId === organizationId && one.size === size),
  );
  const made = await Promise.all(
    wanted.map(async ([organizationId, size]): Promise<StoredCheckpoint> => {
      const root = await rootAt(trees, organizationId, size);
      const note = signNote(checkpointText({ origin: originOf(key.name, organizationId), size, root }), [key]);
      return { organizationId, size, root, note, platformSize, madeAt: newest.timestamp };
    }),
  );
  trees.checkpoints.push(...made);
  return made;
}

/** Reads a tree, `platform` or an organization's, as it was at a size. */
export function readerAt(trees: MemoryTrees, tree: string, size: number): HashReader {
  return tiledHashReader(size, tilesOf(leafHashes(trees, tree).slice(0, size)));
}

/** Leaf hashes of a tree, `platform` or an organization's. */
export function leafHashes(trees: MemoryTrees, tree: string): Uint8Array[] {
  if (tree === PLATFORM_TREE) return trees.platform.map(({ data }) => leafHash(data));
  return (trees.organizations.get(tree) ?? []).map((leaf) => leafHash(entryLeaf(leaf)));
}

/** Base64. */
export async function rootAt(trees: MemoryTrees, tree: string, size: number): Promise<string> {
  return hashText(rootOf(await rangeOf(readerAt(trees, tree, size), size)));
}

function byOrganization(leaves: readonly StoredLeaf[]): Map<string, StoredLeaf[]> {
  const found = new Map<string, StoredLeaf[]>();
  for (const leaf of leaves) {
    const those = found.get(leaf.organizationId);
    if (those) those.push(leaf);
    else found.set(leaf.organizationId, [leaf]);
  }
  return found;
}

function nameOf({ chain, seq }: StoredLeaf): string {
  return `${chain} ${seq}`;
}
