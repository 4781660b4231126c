import { numbers } from './hash-reader.js';
import {
  EMPTY_SUBTREE, MAP_DEPTH, bitAt, byMapKey, liftLeaf, nodeOnPath, partAt, partingOf, keyedLeaf, rootUnder,
  type MapSibling, type OrganizationHead, type KeyedLeaf,
} from './organization-map.js';
import { nodeHash, sameHash } from './rfc6962.js';

/** Names a subtree of the map: its depth, and the first `depth` bits of every key in it, filled up with zeros to whole bytes. */
export interface MapKey {
  readonly depth: number;
  readonly prefix: Uint8Array;
}

/** The content of a subtree: a node over two organizations or more, the only leaf, or nothing. */
export type MapContent = { readonly node: Uint8Array } | { readonly leaf: KeyedLeaf } | undefined;

/** The map as it is stored: the nodes with two organizations or more below them, and the leaves. */
export interface MapSource {
  /** The content of each subtree, in the order asked for. */
  contents(keys: readonly MapKey[]): Promise<readonly MapContent[]>;
}

/** A new node of the map; one at depth 256 has its organization's head. */
export interface StoredMapNode extends MapKey {
  readonly hash: Uint8Array;
  readonly head?: OrganizationHead;
}

/** Levels that a proof reads at once: a path ends about log₂ of the number of organizations below the root. */
const LEVELS_PER_READ = 12;

interface Changed extends KeyedLeaf {
  readonly head: OrganizationHead;
}

/** A subtree with changed leaves while the map is updated. */
interface Open {
  readonly depth: number;
  readonly key: Uint8Array;
  readonly changed: readonly Changed[];
  readonly content: MapContent;
  halves?: [Half, Half];
}

type Half = Open | { readonly content: MapContent };

/** A map with new heads in it. */
export interface UpdatedMap {
  readonly root: Uint8Array;
  /** Every node that is new or other than before. */
  readonly nodes: StoredMapNode[];
  /** The root of before, made up of all that was read: who knows it knows by it that nothing of that was changed by somebody else. */
  readonly before: Uint8Array;
}

/** The map when these organizations have new heads, each named once. Reads one level at a time, for all of them together. */
export async function updateMap(source: MapSource, heads: readonly OrganizationHead[]): Promise<UpdatedMap> {
  const changed = heads.map((head) => ({ head, ...keyedLeaf(head) })).sort(byMapKey);
  const nodes: StoredMapNode[] = changed.map(({ key, hash, head }) => ({ depth: MAP_DEPTH, prefix: key, hash, head }));
  const [content] = await source.contents([keyAt(EMPTY_SUBTREE, 0)]);
  const top: Open = { depth: 0, key: changed[0]?.key ?? EMPTY_SUBTREE, changed, content };
  let open = changed.length > 0 ? [top] : [];
  while (open.length > 0) open = await openHalves(source, open);
  return { before: hashAt(asRead(top), 0), root: hashAt(close(top, nodes), 0), nodes };
}

/** The nodes beside the path to a leaf, from the root downwards, without the empty ones; undefined where there is no leaf. */
export async function mapSiblings(source: MapSource, key: Uint8Array): Promise<MapSibling[] | undefined> {
  const { siblings, end } = await descend(source, key);
  return leafAt(key, end) ? siblings : undefined;
}

/** The nodes beside the path of a key that has no leaf, by which that is proven; undefined where it has one. */
export async function siblingsOfNone(source: MapSource, key: Uint8Array): Promise<MapSibling[] | undefined> {
  const { siblings, end } = await descend(source, key);
  if (!end) return siblings;
  if ('node' in end || leafAt(key, end)) return undefined;
  const { leaf } = end;
  const apart = partingOf(key, leaf.key);
  return [...siblings, [apart, liftLeaf(leaf, apart + 1)]];
}

/** The leaf of a key, if any, and the root of the map by all that was read on the way: if that root is known, the answer is proven. */
export async function lookUp(source: MapSource, key: Uint8Array): Promise<{ leaf: Uint8Array | undefined; root: Uint8Array }> {
  const { siblings, end, depth } = await descend(source, key);
  const beside = new Map(siblings);
  let root = hashAt(end, depth);
  for (let at = depth - 1; at >= 0; at--) root = nodeOnPath(key, at, root, beside.get(at) ?? EMPTY_SUBTREE);
  return { leaf: leafAt(key, end), root };
}

/** From the root towards a key, as far as there are nodes: what stands below them, at which depth, and what stands beside them. */
async function descend(
  source: MapSource, key: Uint8Array,
): Promise<{ siblings: MapSibling[]; end: MapContent; depth: number }> {
  const siblings: MapSibling[] = [];
  for (let from = 0; from < MAP_DEPTH; from += LEVELS_PER_READ) {
    const depths = numbers(from, Math.min(from + LEVELS_PER_READ, MAP_DEPTH));
    const contents = await source.contents(depths.flatMap((depth) => [keyAt(key, depth), keyAt(turned(key, depth), depth + 1)]));
    for (const [n, depth] of depths.entries()) {
      const own = contents[2 * n];
      if (!own || 'leaf' in own) return { siblings, end: own, depth };
      const beside = contents[2 * n + 1];
      if (beside) siblings.push([depth, hashAt(beside, depth + 1)]);
    }
  }
  const [end] = await source.contents([keyAt(key, MAP_DEPTH)]);
  return { siblings, end, depth: MAP_DEPTH };
}

function leafAt(key: Uint8Array, content: MapContent): Uint8Array | undefined {
  return content && 'leaf' in content && sameHash(content.leaf.key, key) ? content.leaf.hash : undefined;
}

/** The subtree at a depth that holds the key. */
export function keyAt(key: Uint8Array, depth: number): MapKey {
  const prefix = Uint8Array.from(key.subarray(0, Math.ceil(depth / 8)));
  if (depth % 8 > 0) prefix[prefix.length - 1]! &= 0xff << (8 - (depth % 8));
  return { depth, prefix };
}

/** Reads the halves of every open subtree; gives those that are to be opened further. */
async function openHalves(source: MapSource, open: readonly Open[]): Promise<Open[]> {
  const nodes = open.filter(({ content }) => content && 'node' in content);
  const halves = nodes.map(({ key, depth }) => {
    const other = turned(key, depth);
    return bitAt(key, depth) === 0 ? ([key, other] as const) : ([other, key] as const);
  });
  const keys = nodes.flatMap(({ depth }, n) => halves[n]!.map((key) => keyAt(key, depth + 1)));
  const contents = keys.length > 0 ? await source.contents(keys) : [];
  return nodes.flatMap((node, n) => {
    const middle = partAt(node.changed, node.depth);
    const half = (right: 0 | 1): Half => {
      const changed = right ? node.changed.slice(middle) : node.changed.slice(0, middle);
      const content = contents[2 * n + right];
      return changed.length === 0 ? { content } : { depth: node.depth + 1, key: halves[n]![right], changed, content };
    };
    node.halves = [half(0), half(1)];
    return node.halves.filter((one): one is Open => 'changed' in one);
  });
}

/** The content of a subtree by the nodes below it, and not by the node that is stored. */
function asRead(half: Half): MapContent {
  if (!('changed' in half) || !half.halves) return half.content;
  const [left, right] = half.halves.map((one) => hashAt(asRead(one), half.depth + 1));
  return { node: nodeHash(left!, right!) };
}

/** The new content of a subtree; adds its new nodes to the list. */
function close(half: Half, nodes: StoredMapNode[]): MapContent {
  if (!('changed' in half) || half.changed.length === 0) return half.content;
  const { depth, key, changed, content, halves } = half;
  if (!halves) {
    const kept = content && 'leaf' in content && !changed.some((one) => sameHash(one.key, content.leaf.key)) ? [content.leaf] : [];
    return build([...kept, ...changed].sort(byMapKey), depth, nodes);
  }
  const node = nodeHash(hashAt(close(halves[0], nodes), depth + 1), hashAt(close(halves[1], nodes), depth + 1));
  nodes.push({ ...keyAt(key, depth), hash: node });
  return { node };
}

/** The content of a subtree that is made of nothing but these leaves, sorted by key. */
function build(leaves: readonly KeyedLeaf[], depth: number, nodes: StoredMapNode[]): MapContent {
  if (leaves.length <= 1) return leaves[0] && { leaf: leaves[0] };
  return { node: rootUnder(leaves, depth, ([first], at, hash) => nodes.push({ ...keyAt(first!.key, at), hash })) };
}

function hashAt(content: MapContent, depth: number): Uint8Array {
  if (!content) return EMPTY_SUBTREE;
  return 'node' in content ? content.node : liftLeaf(content.leaf, depth);
}

/** The key with one bit turned. */
function turned(key: Uint8Array, bit: number): Uint8Array {
  const other = Uint8Array.from(key);
  other[bit >> 3]! ^= 0x80 >> (bit & 7);
  return other;
}
