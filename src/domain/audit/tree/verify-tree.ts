import { BatchReader } from '../integrity/batch-reader.js';
import { type Finding, findingInTree, type FindingList, Findings } from '../integrity/findings.js';
import { organizationChain } from '../entry/chain.js';
import type { StoredCheckpoint } from '../notes/checkpoint.js';
import type { CheckpointTime, LeafRun, CutPointRow, ShownTree } from '../integrity/log-source.js';
import { MultisetHash, LeafHasher, type MultisetDigest } from '../completeness/multiset-hash.js';
import { CompactRange, rootOf } from './compact-range.js';
import { hashText, leafHash } from './rfc6962.js';
import { CheckpointVerifier, type Trust } from '../notes/verify-checkpoints.js';

export interface TreeOrder {
  /** What the database says that it has come to; undefined where it has not begun to grow. */
  readonly shown: ShownTree;
  readonly trust: Trust;
  /** Sizes at which somebody outside says what the root was. */
  readonly wanted: readonly number[];
}

export interface OrganizationTreeOrder extends TreeOrder {
  readonly sumKey: Uint8Array;
  /** Of the organization. */
  readonly cutPoints: readonly CutPointRow[];
  /** Only leaves of these chains are counted. */
  readonly chains?: readonly string[];
}

/** What a tree turned out to be, in a form that crosses threads. */
export interface TreeFound {
  readonly tree: string;
  readonly size: number;
  /** Roots at the wanted sizes, as far as the tree reaches; base64. */
  readonly roots: ReadonlyMap<number, string>;
  /** The newest checkpoint, whether it is sound or not. */
  readonly newest?: StoredCheckpoint;
  readonly findings: FindingList;
}

export interface OrganizationTreeFound extends TreeFound {
  /** The last position of the organization's own chain at each wanted size, and at the newest checkpoint. */
  readonly ownSeq: ReadonlyMap<number, number>;
  readonly ownSeqCovered: number;
  /** Of the leaves that must be entries: swept ones are not among them. */
  readonly sum: MultisetDigest;
  /** How many of them stand beyond the newest checkpoint. */
  readonly uncovered: number;
  /** Leaves at or below a cut point: how many, and how far they reach into the tree. */
  readonly swept: { readonly count: number; readonly to: number };
  /** The leaf at which each chain was cut. */
  readonly cutAt: ReadonlyMap<string, { readonly index: number; readonly hash: string }>;
}

/** Follows a tree as it grows, leaf by leaf, and compares every checkpoint of it with the root at that size. */
class TreeVerifier {
  readonly findings = new Findings();
  readonly range = new CompactRange();
  newest: StoredCheckpoint | undefined;
  private readonly roots = new Map<number, string>();
  private readonly verifier: CheckpointVerifier;
  private readonly checkpoints: BatchReader<StoredCheckpoint>;
  private readonly wanted: number[];

  constructor(private readonly order: TreeOrder, checkpoints: AsyncIterable<readonly StoredCheckpoint[]>) {
    this.verifier = new CheckpointVerifier(order.trust);
    this.checkpoints = new BatchReader(checkpoints);
    this.wanted = [...new Set(order.wanted)].sort((a, b) => b - a);
  }

  /** Before the first leaf, and after each leaf for whose size `isAwaited` is true. */
  async atSize(): Promise<void> {
    const { size } = this.range;
    const root = hashText(rootOf(this.range));
    while (this.wanted.length > 0 && this.wanted.at(-1)! <= size) this.roots.set(this.wanted.pop()!, root);
    while ((await this.checkpoints.peek())?.size === size) {
      const one = this.checkpoints.take();
      if (one.root !== root) {
        this.found('tree_mismatch', size, `does not come to the root that was signed at ${size} leaves: it is not what was signed`);
      }
      this.check(one);
    }
  }

  /** Whether a checkpoint, or somebody outside, names this size. */
  isAwaited(size: number): boolean {
    return this.checkpoints.ready?.size === size || this.wanted.at(-1) === size;
  }

  /** Whether leaves from this position on follow those before. */
  follows(from: number): boolean {
    const { size } = this.range;
    if (from !== size) this.found('tree_mismatch', size, `goes on at leaf ${from}: what stands before is missing`);
    return from === size;
  }

  async end(): Promise<TreeFound> {
    const { range: { size }, order: { shown } } = this;
    if (size !== shown.size) this.found('tree_mismatch', size, `has ${size} leaves, and is said to have ${shown.size}`);
    else if (hashText(rootOf(this.range)) !== shown.root) this.found('tree_mismatch', size, 'has another root than it is said to have');
    for (let isFirst = true; await this.checkpoints.peek(); isFirst = false) {
      const one = this.checkpoints.take();
      this.check(one);
      if (isFirst) this.found('truncated', size, `has ${size} leaves, and a checkpoint vouches for ${one.size}: its end was cut off`);
    }
    const { roots, newest, findings } = this;
    return { tree: shown.tree, size, roots, findings, ...(newest ? { newest } : {}) };
  }

  private check(checkpoint: StoredCheckpoint): void {
    this.newest = checkpoint;
    const wrong = this.verifier.check(checkpoint);
    if (wrong) this.findings.add([wrong]);
  }

  private found(kind: Finding['kind'], position: number, what: string): void {
    this.findings.add([findingInTree(this.order.shown.tree, position, kind, what)]);
  }
}

/** Recomputes an organization's tree from its leaves, in the order of the tree. */
export async function verifyTree(
  leaves: AsyncIterable<LeafRun>, checkpoints: AsyncIterable<readonly StoredCheckpoint[]>, order: OrganizationTreeOrder,
): Promise<OrganizationTreeFound> {
  const tree = new TreeVerifier(order, checkpoints);
  const hasher = new LeafHasher(order.sumKey);
  const sum = new MultisetHash();
  const cutPoints = new Map(order.cutPoints.map((one) => [one.chain, one.seq]));
  const chains = order.chains && new Set(order.chains);
  const cutAt = new Map<string, { index: number; hash: string }>();
  const ownChain = organizationChain(order.shown.tree).chain;
  const ownSeq = new Map<number, number>();
  const wanted = new Set(order.wanted);
  const swept = { count: 0, to: 0 };
  let [own, ownSeqCovered, counted, covered] = [0, 0, 0, 0];
  await tree.atSize();
  for await (const run of leaves) {
    if (!tree.follows(run.from)) break;
    for (const leaf of run.leaves) {
      hasher.take(leaf);
      tree.range.append(hasher.leafHash());
      const cutPoint = cutPoints.get(leaf.chain);
      if (cutPoint !== undefined && leaf.seq <= cutPoint) {
        swept.count++;
        swept.to = tree.range.size;
        if (leaf.seq === cutPoint) cutAt.set(leaf.chain, { index: tree.range.size - 1, hash: leaf.hash });
      } else if (!chains || chains.has(leaf.chain)) {
        hasher.addTo(sum);
        counted++;
      }
      if (leaf.chain === ownChain) own = leaf.seq;
      const { size } = tree.range;
      if (!tree.isAwaited(size)) continue;
      await tree.atSize();
      if (wanted.has(size)) ownSeq.set(size, own);
      if (tree.newest?.size === size) [covered, ownSeqCovered] = [counted, own];
    }
  }
  const found = await tree.end();
  return { ...found, sum: sum.summed, uncovered: counted - covered, swept, cutAt, ownSeq, ownSeqCovered };
}

export interface PlatformFound extends TreeFound {
  /** Text of the newest leaf. */
  readonly last?: string;
  /** When, as its leaf says, the tree came to each wanted size. */
  readonly times: ReadonlyMap<number, string>;
}

/** Recomputes the platform's tree. @param times in rows of checkpoints of every tree; the leaf made with these is signed */
export async function verifyPlatformTree(
  leaves: AsyncIterable<{ readonly from: number; readonly texts: readonly string[] }>,
  checkpoints: AsyncIterable<readonly StoredCheckpoint[]>,
  order: TreeOrder,
  times: AsyncIterable<readonly CheckpointTime[]>,
): Promise<PlatformFound> {
  const tree = new TreeVerifier(order, checkpoints);
  const rows = new CheckpointTimes(times, tree.findings);
  const wanted = new Set(order.wanted);
  const known = new Map<number, string>();
  let last: string | undefined;
  await tree.atSize();
  for await (const { from, texts } of leaves) {
    if (!tree.follows(from)) break;
    for (const text of texts) {
      tree.range.append(leafHash(text));
      last = text;
      const { size } = tree.range;
      if (wanted.has(size)) known.set(size, timeOf(text) ?? '');
      await rows.upTo(size, text);
      if (tree.isAwaited(size)) await tree.atSize();
    }
  }
  await rows.upTo(Infinity);
  return { ...(await tree.end()), times: known, ...(last === undefined ? {} : { last }) };
}

/** Compares the times in rows of checkpoints with the leaves of the platform's tree, as these go by. */
class CheckpointTimes {
  private readonly rows: BatchReader<CheckpointTime>;

  constructor(rows: AsyncIterable<readonly CheckpointTime[]>, private readonly findings: Findings) {
    this.rows = new BatchReader(rows);
  }

  /** @param text of the leaf with which the tree came to this size; undefined behind the last leaf */
  async upTo(size: number, text?: string): Promise<void> {
    for (let row = await this.rows.peek(); row && row.platformSize <= size; row = await this.rows.peek()) {
      const { tree, platformSize, madeAt } = this.rows.take();
      if (text !== undefined && platformSize === size && madeAt === timeOf(text)) continue;
      const what = `has a checkpoint that says it was made at ${madeAt}; leaf ${platformSize - 1} of the platform's tree does not say so`;
      this.findings.add([findingInTree(tree, platformSize, 'column_mismatch', what)]);
    }
  }
}

function timeOf(leaf: string): string | undefined {
  return /,"timestamp":"([^"]*)"\}$/.exec(leaf)?.[1];
}
