import { line, type LineMembers, type LineOf } from './export-lines.js';
import { alignedSubtrees } from '../tree/compact-range.js';
import type { HashReader } from '../tree/hash-reader.js';
import { entryLeaf } from '../tree/tree-leaf.js';
import { subtreeRoots } from '../tree/tree-proofs.js';
import { hashText, leafHash, nodeHash } from '../tree/rfc6962.js';
import type { PlacedLeaf } from './export-source.js';

type Reason = LineMembers<'gap'>['because'];

/** Gathers neighbouring leaves that are left out, and tells them by the roots of the largest aligned subtrees over them. */
export class GapBuilder {
  private reason: Reason | undefined;
  private from = 0;
  private to = 0;
  private nodes: { width: number; hash: Uint8Array }[] = [];

  /** Leaves out one more. @returns the gap that ended before it, where the reason is another or there was something between */
  add(leaf: PlacedLeaf, because: Reason): LineOf<'gap'> | undefined {
    const ended = this.reason === because && this.to === leaf.index ? undefined : this.end();
    if (this.reason === undefined) Object.assign(this, { reason: because, from: leaf.index, to: leaf.index });
    let node = { width: 1, hash: leafHash(entryLeaf(leaf)) };
    let start = leaf.index;
    for (let left = this.nodes.at(-1); left?.width === node.width && start % (2 * node.width) !== 0; left = this.nodes.at(-1)) {
      this.nodes.pop();
      start -= node.width;
      node = { width: 2 * node.width, hash: nodeHash(left.hash, node.hash) };
    }
    this.nodes.push(node);
    this.to = leaf.index + 1;
    return ended;
  }

  /** The gap as far as it has come; the next leaf begins another. */
  end(): LineOf<'gap'> | undefined {
    const { reason, from, to, nodes } = this;
    this.reason = undefined;
    this.nodes = [];
    return reason && line('gap', { from, to, because: reason, nodes: nodes.map(({ hash }) => hashText(hash)) });
  }
}

/** A gap over leaves [from, to) that nobody reads one by one. */
export async function rangeGap(reader: HashReader, from: number, to: number): Promise<LineOf<'gap'>> {
  const roots = await subtreeRoots(reader, alignedSubtrees(from, to));
  return line('gap', { from, to, because: 'range', nodes: roots.map(hashText) });
}
