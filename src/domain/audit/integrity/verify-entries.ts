import type { JsonObject } from '../../json.js';
import { MAX_FINDINGS, type Finding } from './findings.js';
import type { ChainRef } from '../entry/chain.js';
import type { EntryStreams, CutPointRow } from './log-source.js';
import { contentDigest } from '../entry/entry-hash.js';
import { MultisetHash, LeafHasher, type MultisetDigest } from '../completeness/multiset-hash.js';
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

/** An entry that says something about the log itself, and in which nothing was found wrong. */
export interface Notable {
  readonly organizationId: string;
  readonly chain: string;
  readonly seq: number;
  readonly id: string;
  readonly hash: string;
  readonly event: string;
  readonly metadata: JsonObject;
  /** Digest of all of it: whoever orders something by it signs that. */
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
  sum: MultisetDigest;
  /** At most `MAX_BREAKS`; `breaksFound` counts all. */
  readonly breaks: Finding[];
  breaksFound: number;
  /** Blanked values, by entry hash, digest and that of their place. */
  readonly blanks: Map<string, Blank['entry']>;
  /** Entries below a cut that its sweep may not have deleted yet. */
  leftovers: number;
}

const ENTRIES_PER_REPORT = 5_000;

interface Pass {
  chains: number;
  entries: number;
  readonly organizations: Map<string, OrganizationFound & { readonly keyed: MultisetHash }>;
  readonly transfers: Transfer[];
  readonly notable: Notable[];
}

/**
 * Reads the chains of a range: each entry's hash, columns and disclosures, each chain's order, links and end. With `leaves` (in the
 * same order as the entries) each position is compared with the tree's, too; without, a sum tells whether all are the same. Chains go
 * on from where sweeps have cut them. Memory is bounded by what was erased, not by what was written.
 * Yields how many entries were read since the last time.
 */
export async function* verifyEntries(
  streams: EntryStreams,
  { sumKey, cutPoints }: EntriesOrder,
  leaves?: AsyncIterable<readonly StoredLeaf[]>,
): AsyncGenerator<number, EntriesFound, void> {
  const pass: Pass = { chains: 0, entries: 0, organizations: new Map(), transfers: [], notable: [] };
  const hasher = new LeafHasher(sumKey);
  const readers = [reader(streams.heads), reader(streams.entries), reader(leaves ?? none<StoredLeaf>())] as const;
  const cut = reader(none<KnownCutPoint>([...cutPoints].sort(byChain)));
  let reported = 0;
  for (;;) {
    const report = await nextChain(pass, readers, cut, leaves !== undefined, (entry) => {
      hasher.take(entry);
      hasher.addTo(pass.organizations.get(entry.organizationId)!.keyed);
    });
    if (report === undefined) break;
    for await (const entries of report) {
      if (entries - reported < ENTRIES_PER_REPORT) continue;
      yield entries - reported;
      reported = entries;
    }
  }
  yield pass.entries - reported;
  const { chains, entries, transfers, notable } = pass;
  const organizations = new Map([...pass.organizations].map(([id, { keyed, ...one }]) => [id, { ...one, sum: keyed.summed }]));
  return { chains, entries, organizations, transfers, notable };
}

type Readers = readonly [Reader<StoredHead>, Reader<StoredEntry>, Reader<StoredLeaf>];

/** The next chain of any stream; yields the number of entries so far, from time to time. Undefined at the end. */
async function nextChain(
  pass: Pass, [heads, entries, leaves]: Readers, cuts: Reader<KnownCutPoint>, comparesLeaves: boolean, seen: (entry: StoredEntry) => void,
): Promise<AsyncIterable<number> | undefined> {
  const ref = first(await heads.peek(), await entries.peek(), await leaves.peek(), await cuts.peek());
  if (!ref) return undefined;
  const head = same(await heads.peek(), ref) ? heads.take() : undefined;
  const cutPoint = same(await cuts.peek(), ref) ? cuts.take() : undefined;
  const state = startChain(ref, comparesLeaves, cutPoint);
  const left = cutPoint && new EntriesBelowCutPoint(cutPoint, comparesLeaves);
  const found = foundIn(pass, ref.organizationId);
  const settled = () => settle(state, left, pass, found);
  pass.chains++;
  return (async function* () {
    let batch = 0;
    for (;;) {
      const entry = entries.ready() ?? (await entries.peek());
      const leaf = leaves.ready() ?? (await leaves.peek());
      const here = same(entry, ref) ? entry : undefined;
      const known = same(leaf, ref) ? leaf : undefined;
      if (!here && !known) break;
      const seq = Math.min(here?.seq ?? Infinity, known?.seq ?? Infinity);
      const ours = here?.seq === seq ? (entries.take(), here) : undefined;
      const theirs = known?.seq === seq ? (leaves.take(), known) : undefined;
      if (left && seq <= left.cut.seq) left.next(ours, theirs);
      else next(pass, state, ours, theirs, seen);
      if (++batch % ENTRIES_PER_REPORT > 0) continue;
      settled();
      yield pass.entries;
    }
    left?.end();
    endChain(state, head);
    settled();
    found.leftovers += left?.count ?? 0;
    yield pass.entries;
  })();
}

function next(
  pass: Pass, state: ChainState, entry: StoredEntry | undefined, leaf: StoredLeaf | undefined, seen: (entry: StoredEntry) => void,
): void {
  const payload = nextPosition(state, entry, leaf);
  if (!entry) return;
  pass.entries++;
  seen(entry);
  if (payload === undefined || !NOTABLE.has(payload.event)) return;
  const { organizationId, chain, seq, id, hash, event } = entry;
  pass.notable.push({ organizationId, chain, seq, id, hash, event, metadata: payload.metadata, content: contentDigest(entry) });
}

function foundIn(pass: Pass, organizationId: string): OrganizationFound {
  let found = pass.organizations.get(organizationId);
  if (!found) {
    const keyed = new MultisetHash();
    found = { keyed, sum: keyed.summed, breaks: [], breaksFound: 0, blanks: new Map(), leftovers: 0 };
    pass.organizations.set(organizationId, found);
  }
  return found;
}

/** Moves what a chain asks for, or offers, to its organization. */
function settle(state: ChainState, left: EntriesBelowCutPoint | undefined, pass: Pass, found: OrganizationFound): void {
  const breaks = [...(left?.takeBreaks() ?? []), ...state.breaks.splice(0)];
  found.breaksFound += breaks.length;
  found.breaks.push(...breaks.slice(0, MAX_FINDINGS - found.breaks.length));
  for (const { entry, what } of state.blanks.splice(0)) found.blanks.set(`${entry.hash} ${what}`, entry);
  pass.transfers.push(...state.transfers.splice(0));
}

interface Reader<T> {
  /** The next item if it has been read already. */
  ready(): T | undefined;
  /** The next item, reading on if need be; undefined at the end. */
  peek(): Promise<T | undefined>;
  take(): T | undefined;
}

function reader<T>(batches: AsyncIterable<readonly T[]>): Reader<T> {
  const iterator = batches[Symbol.asyncIterator]();
  let batch: readonly T[] = [];
  let at = 0;
  let ended = false;
  return {
    ready: () => batch[at],
    async peek() {
      while (at >= batch.length && !ended) {
        const read = await iterator.next();
        ended = read.done === true;
        batch = read.done ? [] : read.value;
        at = 0;
      }
      return batch[at];
    },
    take: () => batch[at++],
  };
}

async function* none<T>(items: readonly T[] = []): AsyncGenerator<readonly T[]> {
  yield items;
}

function first(...candidates: (ChainRef | undefined)[]): ChainRef | undefined {
  let found: ChainRef | undefined;
  for (const one of candidates) if (one && (!found || byChain(one, found) < 0)) found = one;
  return found && { organizationId: found.organizationId, chain: found.chain };
}

/** By organization and name, by code unit. Ids are ASCII, where that is the order of code points. */
export function byChain(a: ChainRef, b: ChainRef): number {
  const [one, other] = a.organizationId === b.organizationId ? [a.chain, b.chain] : [a.organizationId, b.organizationId];
  return one < other ? -1 : one > other ? 1 : 0;
}

function same(item: ChainRef | undefined, ref: ChainRef): boolean {
  return item !== undefined && item.chain === ref.chain && item.organizationId === ref.organizationId;
}
