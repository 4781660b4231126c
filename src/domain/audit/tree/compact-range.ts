import { foldRight, nodeHash } from './rfc6962.js';

/** A complete subtree: that of the leaves from `index · 2^level` on, 2^level in number. */
export interface Subtree {
  readonly level: number;
  readonly index: number;
}

/**
 * Leaves [begin, size) of a tree, in as much memory as their number has bits: the roots of the largest complete subtrees, left to right.
 * Leaves are appended in order; sizes are exact up to 2^53.
 */
export class CompactRange {
  private readonly subtrees: Uint8Array[];

  /** @param nodes roots of the subtrees that `alignedSubtrees(begin, size)` names */
  constructor(private end = 0, nodes: readonly Uint8Array[] = [], readonly begin = 0) {
    if (nodes.length !== alignedSubtrees(begin, end).length) throw new RangeError(`${nodes.length} nodes are no range of ${end - begin}`);
    this.subtrees = [...nodes];
  }

  get size(): number {
    return this.end;
  }

  get nodes(): readonly Uint8Array[] {
    return this.subtrees;
  }

  /** Appends one leaf, by its hash. */
  append(leafHash: Uint8Array): void {
    this.appendSubtree(0, leafHash);
  }

  /** Appends a complete subtree of 2^level leaves by its root. @throws RangeError where such a subtree cannot begin */
  appendSubtree(level: number, root: Uint8Array): void {
    let width = 2 ** level;
    if (this.end % width !== 0) throw new RangeError(`no subtree of ${width} leaves begins at ${this.end}`);
    let [merged, start] = [root, this.end];
    this.end += width;
    for (; (start / width) % 2 === 1 && start - width >= this.begin; width *= 2) {
      merged = nodeHash(this.subtrees.pop()!, merged);
      start -= width;
    }
    this.subtrees.push(merged);
  }
}

/** The root of the tree that the range is (RFC 6962, section 2.1). */
export function rootOf(range: CompactRange): Uint8Array {
  return foldRight(range.nodes);
}

/** The largest complete subtrees that make up the leaves [from, to), left to right. */
export function alignedSubtrees(from: number, to: number): Subtree[] {
  const found: Subtree[] = [];
  for (let at = from; at < to; ) {
    let level = 0;
    for (let width = 2; at % width === 0 && at + width <= to; width *= 2) level++;
    found.push({ level, index: at / 2 ** level });
    at += 2 ** level;
  }
  return found;
}
