import { Findings, findingInTree, type Finding } from '../integrity/findings.js';
import { PLATFORM_TREE } from '../notes/checkpoint.js';
import type { ShownMapNode } from '../integrity/log-source.js';
import {
  bitAt, EMPTY_SUBTREE, liftLeaf, MAP_DEPTH, mapLeaf, mapKeyOf, partingOf, type OrganizationHead,
} from './organization-map.js';
import { nodeHash, sameHash } from './rfc6962.js';
import { keyAt, type MapKey } from './stored-map-nodes.js';

/** What the stored map comes to. */
export interface MapFound {
  readonly heads: readonly OrganizationHead[];
  /** Computed from the heads, each at its organization's own place. */
  readonly root: Uint8Array;
  readonly breaks: readonly Finding[];
  readonly breaksFound: number;
}

/** A subtree that was computed, from its first organization to its last. */
interface Grown {
  readonly depth: number;
  readonly key: Uint8Array;
  readonly hash: Uint8Array;
  readonly count: number;
  readonly first: string;
  readonly last: string;
}

/**
 * Computes the map of organizations anew from its leaves, and holds every node that is stored against it: proofs are answered from these.
 *
 * @param position in the platform's tree: where its nodes are named
 * @param nodes each before those below it and left before right; leaves by the place that their organization should have
 */
export async function verifyMap(nodes: AsyncIterable<readonly ShownMapNode[]>, position: number): Promise<MapFound> {
  const map = new MapVerifier(position);
  for await (const batch of nodes) for (const node of batch) map.take(node);
  return map.end();
}

/** Holds what lies beside the path to the newest leaf, and no more. */
class MapVerifier {
  private readonly heads: OrganizationHead[] = [];
  private readonly breaks = new Findings();
  /** Nodes that are stored above the newest leaf, by depth. */
  private readonly above = new Map<number, ShownMapNode>();
  /** Those of them below which no leaf has come yet, each below the one before it. */
  private fresh: ShownMapNode[] = [];
  /** Left halves whose right one is not there yet, deepest last, each with the depth of the node over both. */
  private readonly halves: { readonly depth: number; readonly left: Grown }[] = [];
  private newest: Grown | undefined;

  constructor(private readonly position: number) {}

  take(node: ShownMapNode): void {
    if (node.depth === MAP_DEPTH) this.leaf(node);
    else this.node(node);
  }

  end(): MapFound {
    this.over(this.fresh, 'no organization');
    if (this.newest) this.closeBelow(-1);
    this.over(this.above.values(), 'less than two organizations');
    return { heads: this.heads, root: this.newest?.hash ?? EMPTY_SUBTREE, breaks: this.breaks.listed, breaksFound: this.breaks.found };
  }

  private node(node: ShownMapNode): void {
    const { depth, organization, size, root } = node;
    if (!isPlaced(node)) return this.wrong(`stands where none can be, at depth ${depth}`);
    if (organization !== null || size !== null || root !== null) this.wrong(`has the head of an organization, at depth ${depth}`);
    const before = this.fresh.at(-1);
    if (before?.depth === depth && sameBytes(before.prefix, node.prefix)) return this.wrong(`stands twice, at depth ${depth}`);
    while (this.fresh.length > 0 && !isOver(this.fresh.at(-1)!, node)) this.over([this.fresh.pop()!], 'no organization');
    this.fresh.push(node);
  }

  private leaf({ prefix, hash, organization, size, root }: ShownMapNode): void {
    if (organization === null) return this.wrong('is a leaf of no organization');
    const head = { organization, size: size ?? 0, root: root ?? '' };
    const key = mapKeyOf(organization);
    if (this.newest && sameHash(this.newest.key, key)) {
      const what = 'stands twice in the map of organizations: there are two histories of it';
      return this.breaks.add([findingInTree(organization, head.size, 'tree_mismatch', what)]);
    }
    const own = mapLeaf(head);
    if (!sameBytes(prefix, key)) this.misread(head, 'stands in the map of organizations at the place of another');
    else if (!sameBytes(hash, own)) this.misread(head, 'has a hash in the map of organizations that is not that of its head there');
    this.heads.push(head);
    this.grow({ depth: MAP_DEPTH, key, hash: own, count: 1, first: organization, last: organization });
  }

  private grow(leaf: Grown): void {
    if (this.newest) {
      const depth = partingOf(this.newest.key, leaf.key);
      this.closeBelow(depth);
      const alone = [...this.above].filter(([at]) => at > depth);
      for (const [at] of alone) this.above.delete(at);
      this.over(alone.map(([, node]) => node), 'less than two organizations');
      this.halves.push({ depth, left: this.newest });
    }
    const isAbove = (node: ShownMapNode) => isOver(node, { depth: MAP_DEPTH, prefix: leaf.key });
    this.over(this.fresh.filter((node) => !isAbove(node)), 'no organization');
    for (const node of this.fresh.filter(isAbove)) this.above.set(node.depth, node);
    this.fresh = [];
    this.newest = leaf;
  }

  /** Joins all that stands deeper than a node at this depth: what follows parts from it there. */
  private closeBelow(depth: number): void {
    for (let half = this.halves.at(-1); half && half.depth > depth; half = this.halves.at(-1)) {
      this.halves.pop();
      const right = this.lifted(this.newest!, half.depth + 1);
      const { count, last } = right;
      this.newest = { ...half.left, depth: half.depth, hash: nodeHash(half.left.hash, right.hash), count: half.left.count + count, last };
      this.compare(this.newest);
    }
    this.newest = this.lifted(this.newest!, depth + 1);
  }

  /** Past empty halves. Over two organizations or more, each node on the way is stored. */
  private lifted(grown: Grown, to: number): Grown {
    if (grown.count === 1) return { ...grown, depth: to, hash: liftLeaf(grown, to) };
    let found = grown;
    for (let depth = grown.depth - 1; depth >= to; depth--) {
      const isLeft = bitAt(found.key, depth) === 0;
      found = { ...found, depth, hash: isLeft ? nodeHash(found.hash, EMPTY_SUBTREE) : nodeHash(EMPTY_SUBTREE, found.hash) };
      this.compare(found);
    }
    return found;
  }

  private compare({ depth, hash, count, first, last }: Grown): void {
    const stored = this.above.get(depth);
    this.above.delete(depth);
    const where = `over ${count === 2 ? `${first} and ${last}` : `${count} organizations, ${first} to ${last}`}, at depth ${depth}`;
    if (!stored) this.wrong(`is missing ${where}`);
    else if (!sameBytes(stored.hash, hash)) this.wrong(`has another hash than what is below it gives, ${where}`);
  }

  private over(nodes: Iterable<ShownMapNode>, what: string): void {
    for (const { depth } of nodes) this.wrong(`stands over ${what}, at depth ${depth}`);
  }

  private wrong(what: string): void {
    const where = 'ends with a map of organizations of which a stored node';
    this.breaks.add([findingInTree(PLATFORM_TREE, this.position, 'tree_mismatch', `${where} ${what}`)]);
  }

  private misread({ organization, size }: OrganizationHead, what: string): void {
    this.breaks.add([findingInTree(organization, size, 'tree_mismatch', what)]);
  }
}

/** Whether it is named as a node of this depth is: no more bytes, and nothing behind its own bits. */
function isPlaced({ depth, prefix }: MapKey): boolean {
  return depth >= 0 && depth < MAP_DEPTH && sameBytes(prefix, keyAt(prefix, depth).prefix) && prefix.length === Math.ceil(depth / 8);
}

function isOver({ depth, prefix }: MapKey, below: MapKey): boolean {
  return depth < below.depth && sameBytes(prefix, keyAt(below.prefix, depth).prefix);
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
