import { findingInTree, MAX_FINDINGS, type Finding } from '../integrity/findings.js';
import { organizationChain } from '../entry/chain.js';
import type { StoredCheckpoint } from '../notes/checkpoint.js';
import type { CheckpointTime, LeafRun, CutPointRow, ShownTree } from '../integrity/log-source.js';
import { MultisetHash, LeafHasher, type MultisetDigest } from '../completeness/multiset-hash.js';
import { CompactRange, rootOf } from './compact-range.js';
import { hashText, leafHash } from './rfc6962.js';
import { CheckpointVerifier, type Trust } from '../notes/verify-checkpoints.js';

/** How a tree is to be read. */
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
  readonly breaks: readonly Finding[];
  readonly breaksFound: number;
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

/** Follows a tree as it grows, leaf by leaf, and holds every checkpoint of it against the root that it had. */
class GrowingTree {
  readonly breaks: Finding[] = [];
  breaksFound = 0;
  newest: StoredCheckpoint | undefined;
  readonly range = new CompactRange();
  private readonly roots = new Map<number, string>();
  private readonly verifier: CheckpointVerifier;
  private readonly checkpoints: AsyncIterator<readonly StoredCheckpoint[]>;
  private batch: readonly StoredCheckpoint[] = [];
  private at = 0;
  private readonly wanted: number[];

  constructor(private readonly order: TreeOrder, checkpoints: AsyncIterable<readonly StoredCheckpoint[]>) {
    this.verifier = new CheckpointVerifier(order.trust);
    this.checkpoints = checkpoints[Symbol.asyncIterator]();
    this.wanted = [...new Set(order.wanted)].sort((a, b) => b - a);
  }

  get tree(): string {
    return this.order.shown.tree;
  }

  found(kind: Finding['kind'], position: number, what: string): void {
    this.add(findingInTree(this.tree, position, kind, what));
  }

  /** Before any leaf. */
  async begin(): Promise<void> {
    await this.readOn();
    await this.atSize();
  }

  /** Whether somebody waits for the size that the next leaf makes: then `atSize` is due after it. */
  isAwaited(size: number): boolean {
    return this.batch[this.at]?.size === size || this.wanted.at(-1) === size;
  }

  async atSize(): Promise<void> {
    const { size } = this.range;
    const root = hashText(rootOf(this.range));
    while (this.wanted.length > 0 && this.wanted.at(-1)! <= size) this.roots.set(this.wanted.pop()!, root);
    while (this.batch[this.at]?.size === size) {
      const one = this.batch[this.at++]!;
      if (one.root !== root) {
        this.found('tree_mismatch', size, `does not come to the root that was signed at ${size} leaves: it is not what was signed`);
      }
      this.look(one);
      if (this.at === this.batch.length) await this.readOn();
    }
  }

  /** After the last leaf. */
  async end(): Promise<TreeFound> {
    const { size } = this.range;
    const { shown } = this.order;
    if (size !== shown.size) this.found('tree_mismatch', size, `has ${size} leaves, and is said to have ${shown.size}`);
    else if (hashText(rootOf(this.range)) !== shown.root) this.found('tree_mismatch', size, 'has another root than it is said to have');
    let beyond = false;
    for (; this.batch[this.at]; this.at === this.batch.length && (await this.readOn())) {
      const one = this.batch[this.at++]!;
      this.look(one);
      if (!beyond) this.found('truncated', size, `has ${size} leaves, and a checkpoint vouches for ${one.size}: its end was cut off`);
      beyond = true;
    }
    const { tree, roots, newest, breaks, breaksFound } = this;
    return { tree, size, roots, breaks, breaksFound, ...(newest ? { newest } : {}) };
  }

  private look(checkpoint: StoredCheckpoint): void {
    this.newest = checkpoint;
    const wrong = this.verifier.check(checkpoint);
    if (wrong) this.add(wrong);
  }

  private async readOn(): Promise<void> {
    const read = await this.checkpoints.next();
    this.batch = read.done ? [] : read.value;
    this.at = 0;
    if (!read.done && this.batch.length === 0) await this.readOn();
  }

  add(one: Finding): void {
    this.breaksFound++;
    if (this.breaks.length < MAX_FINDINGS) this.breaks.push(one);
  }
}

/** Recomputes an organization's tree from its leaves, in the order of the tree. */
export async function verifyTree(
  leaves: AsyncIterable<LeafRun>, checkpoints: AsyncIterable<readonly StoredCheckpoint[]>, order: OrganizationTreeOrder,
): Promise<OrganizationTreeFound> {
  const tree = new GrowingTree(order, checkpoints);
  const hasher = new LeafHasher(order.sumKey);
  const sum = new MultisetHash();
  const cutPoints = new Map(order.cutPoints.map((one) => [one.chain, one.seq]));
  const chains = order.chains && new Set(order.chains);
  const cutAt = new Map<string, { index: number; hash: string }>();
  const ownChain = organizationChain(order.shown.tree).chain;
  const ownSeq = new Map<number, number>();
  const wanted = new Set(order.wanted);
  let own = 0;
  let ownSeqCovered = 0;
  const swept = { count: 0, to: 0 };
  let counted = 0;
  let covered = 0;
  await tree.begin();
  for await (const run of leaves) {
    if (run.from !== tree.range.size) {
      tree.found('tree_mismatch', tree.range.size, `goes on at leaf ${run.from}: what stands before is missing`);
      break;
    }
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
      if (tree.newest?.size !== size) continue;
      covered = counted;
      ownSeqCovered = own;
    }
  }
  const found = await tree.end();
  return { ...found, sum: sum.summed, uncovered: counted - covered, swept, cutAt, ownSeq, ownSeqCovered };
}

/** What the platform's tree turned out to be. */
export interface PlatformFound extends TreeFound {
  /** Text of the newest leaf. */
  readonly last?: string;
  /** When, as its leaf says, the tree came to each wanted size. */
  readonly times: ReadonlyMap<number, string>;
}

/**
 * Recomputes the platform's tree.
 *
 * @param times of checkpoints of every tree: rows say when these were made, and the leaf that was made with them is signed
 */
export async function verifyPlatformTree(
  leaves: AsyncIterable<{ readonly from: number; readonly texts: readonly string[] }>,
  checkpoints: AsyncIterable<readonly StoredCheckpoint[]>,
  order: TreeOrder,
  times: AsyncIterable<readonly CheckpointTime[]>,
): Promise<PlatformFound> {
  const tree = new GrowingTree(order, checkpoints);
  const said = new SaidTimes(times, tree);
  const wanted = new Set(order.wanted);
  const known = new Map<number, string>();
  let last: string | undefined;
  await tree.begin();
  for await (const { from, texts } of leaves) {
    if (from !== tree.range.size) {
      tree.found('tree_mismatch', tree.range.size, `goes on at leaf ${from}: what stands before is missing`);
      break;
    }
    for (const text of texts) {
      tree.range.append(leafHash(text));
      last = text;
      const { size } = tree.range;
      if (wanted.has(size)) known.set(size, timeOf(text) ?? '');
      await said.at(size, text);
      if (tree.isAwaited(tree.range.size)) await tree.atSize();
    }
  }
  await said.end();
  return { ...(await tree.end()), times: known, ...(last === undefined ? {} : { last }) };
}

/** Holds what rows of checkpoints say of their time against the leaves of the platform's tree, as these go by. */
class SaidTimes {
  private readonly rows: AsyncIterator<readonly CheckpointTime[]>;
  private batch: readonly CheckpointTime[] = [];
  private next = 0;

  constructor(rows: AsyncIterable<readonly CheckpointTime[]>, private readonly tree: GrowingTree) {
    this.rows = rows[Symbol.asyncIterator]();
  }

  /** @param text of the leaf with which the tree came to this size */
  async at(size: number, text: string): Promise<void> {
    for (let row = await this.peek(); row && row.platformSize <= size; row = await this.peek()) {
      this.next++;
      if (row.platformSize !== size || row.madeAt !== timeOf(text)) this.differs(row);
    }
  }

  async end(): Promise<void> {
    for (let row = await this.peek(); row; row = await this.peek()) {
      this.next++;
      this.differs(row);
    }
  }

  private differs({ tree, platformSize, madeAt }: CheckpointTime): void {
    const what = `has a checkpoint that says it was made at ${madeAt}; leaf ${platformSize - 1} of the platform's tree does not say so`;
    this.tree.add(findingInTree(tree, platformSize, 'column_mismatch', what));
  }

  private async peek(): Promise<CheckpointTime | undefined> {
    while (this.next >= this.batch.length) {
      const read = await this.rows.next();
      if (read.done) return undefined;
      [this.batch, this.next] = [read.value, 0];
    }
    return this.batch[this.next];
  }
}

function timeOf(leaf: string): string | undefined {
  return /,"timestamp":"([^"]*)"\}$/.exec(leaf)?.[1];
}
