import type { OrganizationHead } from '../../../src/domain/audit/tree/organization-map.js';
import {
  keyAt, updateMap, type MapContent, type MapKey, type MapSource, type StoredMapNode,
} from '../../../src/domain/audit/tree/stored-map-nodes.js';

/** The map of organizations in memory, with the same rows that the database holds. */
export interface StoredMap extends MapSource {
  readonly nodes: Map<string, StoredMapNode>;
  /** How often it was read. */
  reads: number;
  /** Leaves of the subtree. */
  under(depth: number, prefix: Uint8Array): StoredMapNode[];
  /** Stores the organizations' new heads; gives the new root. */
  update(heads: readonly OrganizationHead[]): Promise<Uint8Array>;
}

const LEAF_DEPTH = 256;

export function storedMap(): StoredMap {
  const stored: StoredMap = {
    nodes: new Map(),
    reads: 0,
    under: (depth, prefix) =>
      [...stored.nodes.values()].filter(
        (one) => one.depth === LEAF_DEPTH && Buffer.compare(keyAt(one.prefix, depth).prefix, prefix) === 0,
      ),
    contents: (keys) => {
      stored.reads++;
      return Promise.resolve(keys.map((key) => contentOf(stored, key)));
    },
    update: async (heads) => {
      const { root, nodes } = await updateMap(stored, heads);
      for (const one of nodes) stored.nodes.set(nameOf(one), one);
      return root;
    },
  };
  return stored;
}

function contentOf(stored: StoredMap, key: MapKey): MapContent {
  const node = key.depth < LEAF_DEPTH ? stored.nodes.get(nameOf(key)) : undefined;
  if (node) return { node: node.hash };
  const [leaf] = stored.under(key.depth, key.prefix);
  return leaf && { leaf: { key: leaf.prefix, hash: leaf.hash } };
}

function nameOf({ depth, prefix }: MapKey): string {
  return `${depth} ${Buffer.from(prefix).toString('hex')}`;
}
