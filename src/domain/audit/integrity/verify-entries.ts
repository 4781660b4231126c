import { getOrInsert } from '../../collections.js';
import type { JsonObject } from '../../json.js';
import { BatchReader } from './batch-reader.js';
import { type FindingList, Findings } from './findings.js';
import type { ChainRef } from '../entry/chain.js';
import type { EntryStreams, CutPointRow } from './log-source.js';
import { contentDigest } from '../entry/entry-hash.js';
import { addMultisets, LeafHasher, MultisetHash, type MultisetDigest } from '../completeness/multiset-hash.js';
import type { StoredEntry, StoredHead, StoredLeaf } from '../entry/stored-entry.js';
import { endChain, nextPosition, startChain, type Blank, type ChainState, type Transfer } from './verify-chain.js';
import { EntriesBelowCutPoint, type KnownCutPoint } from './verify-below-cut-points.js';

/** How a range of the log is to be read. */
export interface EntriesOrder {
  /** Of this verification; 32 random bytes. */
  readonly sumKey: Uint8Array;
  /** Of the chains in the range. */
  readonly cutPoints: readonly CutPointRow[];
}

/** A sound entry about the log itself. */
export interface Notable extends StoredLeaf, Pick<StoredEntry, 'id' | 'event'> {
  readonly metadata: JsonObject;
  /** Digest of the whole entry, which is signed. */
  readonly content: string;
}

const NOTABLE = new Set(['admin.audit_retention_sweep', 'admin.signing_key_rotated', 'admin.recovered', 'gdpr.erasure_executed']);

/** What was found in a range, in a form that crosses threads. */
export interface EntriesFound {
  readonly chains: number;
  readonly entries: number;
  readonly organizations: ReadonlyMap<string, OrganizationFound>;
  readonly transfers: readonly Transfer[];
  readonly notable: readonly Notable[];
}

export interface OrganizationFound {
  readonly sum: MultisetDigest;
  readonly findings: FindingList;
  /** Blanked values, by entry hash, digest and that of their pointer. */
  readonly blanks: ReadonlyMap<string, Blank['entry']>;
  /** Entries below a cut that its retention run may not have deleted yet. */
  readonly leftovers: number;
}

const ENTRIES_PER_REPORT = 5_000;

/**
 * Reads the chains of a range: each entry's hash, columns and disclosures, each chain's order, links and end, from its cut point on. With
 * `sorted` leaves each position is compared with the tree, too; without, a sum shows whether both are the same. Memory is bounded by what
 * was erased. Yields how many entries were read since the last time.
 */
export async function* verifyEntries(
  streams: EntryStreams, { sumKey, cutPoints }: EntriesOrder, sorted?: AsyncIterable<readonly StoredLeaf[]>,
): AsyncGenerator<number, EntriesFound, void> {
  const pass = new EntriesPass(sumKey, sorted !== undefined);
  const [heads, entries] = [new BatchReader(streams.heads), new BatchReader(streams.entries)];
  const leaves = new BatchReader(sorted ?? inOneBatch<StoredLeaf>([]));
  const cuts = new BatchReader(inOneBatch<KnownCutPoint>([...cutPoints].sort(byChain)));
  let reported = 0;
  for (;;) {
    const ref = first(await heads.peek(), await entries.peek(), await leaves.peek(), await cuts.peek());
    if (!ref) break;
    const head = ofChain(ref, heads.ready) && heads.take();
    pass.begin(ref, ofChain(ref, cuts.ready) && cuts.take());
    for (let n = 1; ; n++) {
      const entry = ofChain(ref, entries.ready ?? (await entries.peek()));
      const leaf = ofChain(ref, leaves.ready ?? (await leaves.peek()));
      if (!entry && !leaf) break;
      const seq = Math.min(entry?.seq ?? Infinity, leaf?.seq ?? Infinity);
      pass.next(seq, entry?.seq === seq ? entries.take() : undefined, leaf?.seq === seq ? leaves.take() : undefined);
      if (n % ENTRIES_PER_REPORT > 0) continue;
      pass.settle();
      yield pass.entries - reported;
      reported = pass.entries;
    }
    pass.end(head);
    if (pass.entries - reported < ENTRIES_PER_REPORT) continue;
    yield pass.entries - reported;
    reported = pass.entries;
  }
  yield pass.entries - reported;
  return pass.found();
}

export async function toEnd(
  pass: AsyncGenerator<number, EntriesFound, void>, onEntries?: (entries: number) => void,
): Promise<EntriesFound> {
  for (;;) {
    const step = await pass.next();
    if (step.done) return step.value;
    onEntries?.(step.value);
  }
}

/** Joins what was found in parts of the log. */
export function joinEntries(parts: readonly EntriesFound[]): EntriesFound {
  const organizations = new Map<string, OrganizationFound>();
  for (const [id, one] of parts.flatMap((part) => [...part.organizations])) {
    const known = organizations.get(id);
    organizations.set(id, known ? joined(known, one) : one);
  }
  return {
    chains: parts.reduce((sum, part) => sum + part.chains, 0),
    entries: parts.reduce((sum, part) => sum + part.entries, 0),
    organizations,
    transfers: parts.flatMap((part) => part.transfers),
    notable: parts.flatMap((part) => part.notable),
  };
}

function joined(one: OrganizationFound, other: OrganizationFound): OrganizationFound {
  const findings = new Findings();
  for (const some of [one.findings, other.findings]) findings.addAll(some);
  return {
    sum: addMultisets(one.sum, other.sum), findings, blanks: new Map([...one.blanks, ...other.blanks]),
    leftovers: one.leftovers + other.leftovers,
  };
}

class OrganizationPass {
  readonly keyed = new MultisetHash();
  readonly findings = new Findings();
  readonly blanks = new Map<string, Blank['entry']>();
  leftovers = 0;
}

class EntriesPass {
  entries = 0;
  private chains = 0;
  private readonly organizations = new Map<string, OrganizationPass>();
  private readonly transfers: Transfer[] = [];
  private readonly notable: Notable[] = [];
  private readonly hasher: LeafHasher;
  private state!: ChainState;
  private below: EntriesBelowCutPoint | undefined;
  private organization!: OrganizationPass;

  constructor(sumKey: Uint8Array, private readonly comparesLeaves: boolean) {
    this.hasher = new LeafHasher(sumKey);
  }

  begin(ref: ChainRef, cutPoint: KnownCutPoint | undefined): void {
    this.chains++;
    this.state = startChain(ref, this.comparesLeaves, cutPoint);
    this.below = cutPoint && new EntriesBelowCutPoint(cutPoint, this.comparesLeaves);
    this.organization = getOrInsert(this.organizations, ref.organizationId, () => new OrganizationPass());
  }

  next(seq: number, entry: StoredEntry | undefined, leaf: StoredLeaf | undefined): void {
    if (this.below && seq <= this.below.cut.seq) return this.below.next(entry, leaf);
    const payload = nextPosition(this.state, entry, leaf);
    if (!entry) return;
    this.entries++;
    this.hasher.take(entry);
    this.hasher.addTo(this.organization.keyed);
    if (payload === undefined || !NOTABLE.has(payload.event)) return;
    const { organizationId, chain, id, hash, event } = entry;
    this.notable.push({ organizationId, chain, seq, id, hash, event, metadata: payload.metadata, content: contentDigest(entry) });
  }

  end(head: StoredHead | undefined): void {
    this.below?.end();
    endChain(this.state, head);
    this.settle();
    this.organization.leftovers += this.below?.count ?? 0;
  }

  /** Moves what was found in a chain to its organization. */
  settle(): void {
    const { state, below, organization } = this;
    organization.findings.add([...(below?.takeBreaks() ?? []), ...state.breaks.splice(0)]);
    for (const { entry, what } of state.blanks.splice(0)) organization.blanks.set(`${entry.hash} ${what}`, entry);
    this.transfers.push(...state.transfers.splice(0));
  }

  found(): EntriesFound {
    const { chains, entries, transfers, notable } = this;
    const organizations = new Map([...this.organizations].map(([id, { keyed, findings, blanks, leftovers }]) =>
      [id, { sum: keyed.summed, findings, blanks, leftovers }]));
    return { chains, entries, organizations, transfers, notable };
  }
}

async function* inOneBatch<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  yield items;
}

function first(...candidates: (ChainRef | undefined)[]): ChainRef | undefined {
  const [found] = candidates.filter((one) => one !== undefined).sort(byChain);
  return found && { organizationId: found.organizationId, chain: found.chain };
}

/** By organization and name, by code unit. Ids are ASCII, where that is the order of code points. */
export function byChain(a: ChainRef, b: ChainRef): number {
  const [one, other] = a.organizationId === b.organizationId ? [a.chain, b.chain] : [a.organizationId, b.organizationId];
  return one < other ? -1 : one > other ? 1 : 0;
}

function ofChain<Item extends ChainRef>(ref: ChainRef, item: Item | undefined): Item | undefined {
  return item?.chain === ref.chain && item.organizationId === ref.organizationId ? item : undefined;
}
