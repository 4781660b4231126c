import { CompactRange, alignedSubtrees } from './compact-range.js';
import { TILE_WIDTH } from './hash-reader.js';
import { foldRight } from './rfc6962.js';

/** Leaves of one full tile are a subtree of this level. */
const TILE_LEVEL = 8;

/** The right edge of a tree that is kept in tiles: where appending goes on. */
export class GrowingTree {
  private readonly tiles: CompactRange;
  private tail: CompactRange;

  /** @param range of all leaves so far */
  constructor(range: CompactRange = new CompactRange()) {
    const beyond = range.size % TILE_WIDTH;
    const inTiles = alignedSubtrees(0, range.size - beyond).length;
    this.tiles = new CompactRange(range.size - beyond, range.nodes.slice(0, inTiles));
    this.tail = new CompactRange(beyond, range.nodes.slice(inTiles));
  }

  get size(): number {
    return this.tiles.size + this.tail.size;
  }

  get root(): Uint8Array {
    return foldRight([...this.tiles.nodes, ...this.tail.nodes]);
  }

  /** Appends one leaf, by its hash. @returns the root of the tile that is full with it, if one is */
  append(leafHash: Uint8Array): Uint8Array | undefined {
    this.tail.append(leafHash);
    if (this.tail.size < TILE_WIDTH) return undefined;
    const [root] = this.tail.nodes;
    this.tiles.appendSubtree(TILE_LEVEL, root!);
    this.tail = new CompactRange();
    return root;
  }

  /** The same tree, to be grown on its own: what fails to be stored has not grown. */
  copy(): GrowingTree {
    return new GrowingTree(new CompactRange(this.size, [...this.tiles.nodes, ...this.tail.nodes]));
  }
}
