import { randomBytes } from 'node:crypto';
import { findingInTree, type Finding } from '../findings.js';
import { PLATFORM_ORGANIZATION } from '../../entry/chain.js';
import { PLATFORM_TREE } from '../../notes/checkpoint.js';
import type { LogHeader, SharedChain, CutPointRow, StoodChain } from '../log-source.js';
import { KEY_BYTES, MultisetHash, LeafHasher, isSameMultiset, type MultisetDigest } from '../../completeness/multiset-hash.js';
import { usedAgain } from '../verify-transfers.js';
import type { Transfer } from '../verify-chain.js';
import type { KnownCutPoint } from '../verify-below-cut-points.js';
import { keptByCaller, type KeptCheckpoint } from '../../tree/verify-platform.js';
import type { OrganizationTreeFound } from '../../tree/verify-tree.js';

/**
 * Up to where somebody has had every entry of an organization verified, as they remember it outside of the database. The checkpoint
 * alone binds which leaves there were; the sum binds where each chain stood, so that no chain can go on from anywhere else.
 */
export interface ReadUpTo {
  /** The signed checkpoint of the organization's tree. */
  readonly note: string;
  /** Base64 of 32 random bytes. Whoever can write the database must not know them. */
  readonly key: string;
  /** Of chain, position and hash of each chain's last entry in that tree. */
  readonly stood: MultisetDigest;
}

/** An organization of which only what is newer is read. */
export interface Part {
  readonly organizationId: string;
  /** Of the tree, at the remembered checkpoint. */
  readonly size: number;
  readonly key: Uint8Array;
  readonly stood: MultisetDigest;
}

export type Parts = ReadonlyMap<string, Part>;

/** Of one organization, whose seams these are: where its chains stood when its tree had a size. */
export interface StoodOrder {
  readonly organizationId: string;
  readonly size: number;
  readonly key: Uint8Array;
  readonly seams: readonly CutPointRow[];
}

/** What was found of a part beside its entries. */
export interface StoodFound {
  readonly organizationId: string;
  /** Where its chains stood, as the rows of now tell it. */
  readonly stood: MultisetDigest;
  /** Of the chains asked for: those that had not begun here. */
  readonly begun: readonly string[];
}

/** Whether anything is remembered of this installation. */
export function isOfThis(since: readonly ReadUpTo[], instance: string): boolean {
  return since.some(({ note }) => keptByCaller([note], instance).length > 0);
}

/**
 * Which organizations can be read in part: those whose tree is said to go on from what is remembered of it. The installation's own
 * is always read whole, since announced keys and recoveries stand there; so is one that a sweep has cut behind the checkpoint.
 */
export function partsOf(since: readonly ReadUpTo[], { instance, trees, seams }: LogHeader, kept: readonly KeptCheckpoint[]): Parts {
  const parts = new Map<string, Part>();
  for (const { note, key, stood } of since) {
    const [checkpoint] = keptByCaller([note], instance);
    if (!checkpoint) continue;
    const { tree: organizationId, size } = checkpoint;
    const isWhole = organizationId === PLATFORM_ORGANIZATION || organizationId === PLATFORM_TREE || size === 0 ||
      !trees.some((one) => one.tree === organizationId && one.size >= size) ||
      kept.some((one) => one.tree === organizationId && one.size < size) ||
      seams.some((one) => one.organizationId === organizationId && one.checkpoint.size > size);
    if (!isWhole) parts.set(organizationId, { organizationId, size, key: Buffer.from(key, 'base64'), stood });
  }
  return parts;
}

/** Of which trees to remember where the chains stood, at their newest checkpoint: under a key of each one's own. */
export function rememberedBy(
  trees: readonly OrganizationTreeFound[], seamsOf: (organizationId: string) => readonly CutPointRow[],
): (StoodOrder & { readonly note: string })[] {
  return trees.flatMap(({ tree: organizationId, newest }) =>
    newest && organizationId !== PLATFORM_ORGANIZATION
      ? [{ organizationId, size: newest.size, note: newest.note, key: randomBytes(KEY_BYTES), seams: seamsOf(organizationId) }]
      : []);
}

/** Whether the chains stood where they are remembered to have stood. What differs is named by reading everything. */
export function* againstStood(parts: Parts, found: readonly StoodFound[]): Generator<Finding> {
  for (const { organizationId, stood } of found) {
    const part = parts.get(organizationId)!;
    if (!isSameMultiset(stood, part.stood)) yield findingInTree(organizationId, part.size, 'tree_mismatch', 'has chains that stood elsewhere');
  }
}

/**
 * As `usedAgain`, where of some organizations only what is newer was read: those in which the chain stood before were compared then,
 * and count as one that it began in.
 */
export function usedSince(
  shared: readonly SharedChain[], transfers: readonly Transfer[], seams: readonly CutPointRow[], found: readonly StoodFound[],
): Iterable<Finding> {
  const begun = new Map(found.map((one) => [one.organizationId, new Set(one.begun)]));
  const stoodIn = (id: string, chain: string) => begun.has(id) && !begun.get(id)!.has(chain);
  return usedAgain(shared.map(({ chain, organizations }) => {
    const before = organizations.filter((id) => stoodIn(id, chain));
    return { chain, organizations: [...before.slice(0, 1), ...organizations.filter((id) => !before.includes(id))] };
  }), transfers, seams);
}

/** Where a chain stood: at its last entry from before or, where a sweep has taken that, at the sweep's cut. */
function stoodAt({ organizationId, chain, seq, hash, next }: StoodChain, seam: CutPointRow | undefined): KnownCutPoint | undefined {
  if (seam && seam.seq > (seq ?? 0) && (next === null || seam.seq < next)) return seam;
  return seq === null || hash === null ? undefined : { organizationId, chain, seq, hash, isDone: true, isReadAgain: next !== null };
}

/** Sums up where chains stood, while somebody reads it, or alone. */
export class Standing {
  private readonly sum = new MultisetHash();
  private readonly hasher: LeafHasher;
  private readonly seams: ReadonlyMap<string, CutPointRow>;
  private readonly begunOf: ReadonlySet<string>;
  private readonly begun: string[] = [];

  /**
   * @param seams of the organization
   * @param asked chains of which to tell whether they had begun
   */
  constructor(key: Uint8Array, seams: readonly CutPointRow[], asked: readonly string[] = []) {
    this.hasher = new LeafHasher(key);
    this.seams = new Map(seams.map((one) => [one.chain, one]));
    this.begunOf = new Set(asked);
  }

  async *follow(rows: AsyncIterable<readonly StoodChain[]>): AsyncGenerator<readonly KnownCutPoint[]> {
    for await (const batch of rows) {
      const cuts: KnownCutPoint[] = [];
      for (const row of batch) {
        const cut = stoodAt(row, this.seams.get(row.chain));
        if (cut) {
          this.hasher.take(cut);
          this.hasher.addTo(this.sum);
          cuts.push(cut);
        } else if (this.begunOf.has(row.chain)) this.begun.push(row.chain);
      }
      yield cuts;
    }
  }

  found(organizationId: string): StoodFound {
    return { organizationId, stood: this.sum.summed, begun: this.begun };
  }
}
