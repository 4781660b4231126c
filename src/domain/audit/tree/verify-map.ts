import { partitionPoint } from '../../collections.js';
import { findingInTree, type FindingList, Findings } from '../integrity/findings.js';
import type { ShownMapNode } from '../integrity/log-source.js';
import { PLATFORM_TREE } from '../notes/checkpoint.js';
import { byMapKey, type KeyedLeaf, MAP_DEPTH, mapKeyOf, mapLeaf, type OrganizationHead, rootUnder } from './organization-map.js';
import { sameHash } from './rfc6962.js';
import { keyAt, type MapKey } from './stored-map-nodes.js';

/** The map by its stored leaves. */
export interface MapFound {
  readonly heads: readonly OrganizationHead[];
  /** Computed from the heads, each at its organization's own key. */
  readonly root: Uint8Array;
  readonly findings: FindingList;
}

/** Computes the map of organizations anew from its leaves, and compares every stored node, of which proofs are made, with that. */
export async function verifyMap(nodes: AsyncIterable<readonly ShownMapNode[]>, position: number): Promise<MapFound> {
  const map = new MapVerifier(position);
  for await (const batch of nodes) for (const node of batch) map.take(node);
  return map.end();
}

class MapVerifier {
  private readonly findings = new Findings();
  private readonly heads: OrganizationHead[] = [];
  private readonly leaves = new Map<string, KeyedLeaf & { readonly organization: string }>();
  /** Stored nodes over two organizations or more, by depth and prefix. */
  private readonly nodes = new Map<string, ShownMapNode>();

  constructor(private readonly position: number) {}

  take(node: ShownMapNode): void {
    const { depth, organization, size, root } = node;
    if (depth === MAP_DEPTH) return this.leaf(node);
    if (!isNodeKey(node)) return this.wrong(`stands where none can be, at depth ${depth}`);
    if (organization !== null || size !== null || root !== null) this.wrong(`has the head of an organization, at depth ${depth}`);
    if (this.nodes.has(nameOf(node))) this.wrong(`stands twice, at depth ${depth}`);
    else this.nodes.set(nameOf(node), node);
  }

  end(): MapFound {
    const sorted = [...this.leaves.values()].sort(byMapKey);
    const root = rootUnder(sorted, 0, (leaves, depth, hash) => {
      const [first, last] = [leaves[0]!, leaves.at(-1)!];
      const name = nameOf(keyAt(first.key, depth));
      const stored = this.nodes.get(name);
      this.nodes.delete(name);
      if (stored && sameHash(stored.hash, hash)) return;
      const [count, both] = [leaves.length, [first, last].map(({ organization }) => organization)];
      const where = `over ${count === 2 ? both.join(' and ') : `${count} organizations, ${both.join(' to ')}`}, at depth ${depth}`;
      this.wrong(stored ? `has another hash than what is below it gives, ${where}` : `is missing ${where}`);
    });
    for (const node of this.nodes.values()) {
      const below = sorted[partitionPoint(sorted, ({ key }) => Buffer.compare(key, node.prefix) < 0)];
      const isOver = below && sameHash(keyAt(below.key, node.depth).prefix, node.prefix);
      this.wrong(`stands over ${isOver ? 'less than two organizations' : 'no organization'}, at depth ${node.depth}`);
    }
    return { heads: this.heads, root, findings: this.findings };
  }

  private leaf({ prefix, hash, organization, size, root }: ShownMapNode): void {
    if (organization === null) return this.wrong('is a leaf of no organization');
    const head = { organization, size: size ?? 0, root: root ?? '' };
    if (this.leaves.has(organization)) return this.misread(head, 'stands twice in the map of organizations: there are two histories of it');
    const [key, own] = [mapKeyOf(organization), mapLeaf(head)];
    if (!sameHash(prefix, key)) this.misread(head, 'stands in the map of organizations at the place of another');
    else if (!sameHash(hash, own)) this.misread(head, 'has a hash in the map of organizations that is not that of its head there');
    this.heads.push(head);
    this.leaves.set(organization, { key, hash: own, organization });
  }

  private wrong(what: string): void {
    const where = 'ends with a map of organizations of which a stored node';
    this.findings.add([findingInTree(PLATFORM_TREE, this.position, 'tree_mismatch', `${where} ${what}`)]);
  }

  private misread({ organization, size }: OrganizationHead, what: string): void {
    this.findings.add([findingInTree(organization, size, 'tree_mismatch', what)]);
  }
}

/** Whether it is named as a node of this depth is: no more bytes, and nothing behind its own bits. */
function isNodeKey({ depth, prefix }: MapKey): boolean {
  return depth >= 0 && depth < MAP_DEPTH && sameHash(prefix, keyAt(prefix, depth).prefix) && prefix.length === Math.ceil(depth / 8);
}

function nameOf({ depth, prefix }: MapKey): string {
  return `${depth} ${Buffer.from(prefix).toString('latin1')}`;
}
