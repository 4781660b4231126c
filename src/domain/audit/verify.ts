import type { Break } from './breaks.js';
import { organizationChain, type ChainRef } from './chain.js';
import type { StoredEntry, StoredHead, StoredLeaf } from './stored-entry.js';
import { endChain, nextPosition, startChain, type Blank, type ChainState, type Transfer } from './verify-chain.js';

/** Which part of the log is read: everything that the source may show, or some chains of it. */
export interface Selection {
  readonly organizationId?: string;
  readonly chain?: string;
}

export interface LogStreams {
  readonly heads: AsyncIterable<readonly StoredHead[]>;
  readonly entries: AsyncIterable<readonly StoredEntry[]>;
  readonly leaves: AsyncIterable<readonly StoredLeaf[]>;
}

/**
 * Where a log is read from. All streams show one moment of it, in batches, ordered by organization, chain (both by code point)
 * and position.
 */
export interface LogSource {
  /** Whether it shows every organization: only then can both halves of a transfer be asked for. */
  readonly whole: boolean;
  read(selection: Selection): LogStreams;
}

/** How far a verification has come; `breaks` are those found since the last report. */
export interface Progress {
  readonly chains: number;
  readonly entries: number;
  readonly breaks: readonly Break[];
}

const ENTRIES_PER_REPORT = 5_000;

/**
 * Verifies a log against itself: each entry's hash, columns and disclosures, each chain's order and end, and chain against
 * tree both ways. Memory is bounded by what was erased, not by what was written. With `agentId` only that agent's chain is
 * read, and its organization's where values of the agent were erased: the erasure must be shown to be a committed one.
 */
export async function* verifyLog(source: LogSource, agentId?: string): AsyncGenerator<Progress, void, void> {
  const run: Run = { chains: 0, entries: 0, blanks: new Map(), transfers: [] };
  yield* verifyStreams(source.read(agentId === undefined ? {} : { chain: agentId }), run);
  if (agentId !== undefined) {
    for (const organizationId of [...run.blanks.keys()]) {
      yield* verifyStreams(source.read(organizationChain(organizationId)), run);
    }
  }
  const breaks = [...unauthorised(run), ...(source.whole ? unmatched(run.transfers) : [])];
  yield { chains: run.chains, entries: run.entries, breaks };
}

interface Run {
  chains: number;
  entries: number;
  /** Blanked values of each organization that no erasure entry has listed yet, by entry hash and digest. */
  readonly blanks: Map<string, Map<string, Blank>>;
  readonly transfers: Transfer[];
}

async function* verifyStreams(streams: LogStreams, run: Run): AsyncGenerator<Progress, void, void> {
  const heads = reader(streams.heads);
  const entries = reader(streams.entries);
  const leaves = reader(streams.leaves);
  let reported = run.entries;
  for (;;) {
    const ref = first(await heads.peek(), await entries.peek(), await leaves.peek());
    if (!ref) return;
    const head = same(await heads.peek(), ref) ? heads.take() : undefined;
    const state = startChain(ref);
    for (;;) {
      const entry = entries.ready() ?? (await entries.peek());
      const leaf = leaves.ready() ?? (await leaves.peek());
      const here = same(entry, ref) ? entry : undefined;
      const known = same(leaf, ref) ? leaf : undefined;
      if (!here && !known) break;
      const seq = Math.min(here?.seq ?? Infinity, known?.seq ?? Infinity);
      nextPosition(
        state,
        here?.seq === seq ? (entries.take(), here) : undefined,
        known?.seq === seq ? (leaves.take(), known) : undefined,
      );
      if (run.entries + state.entries - reported < ENTRIES_PER_REPORT) continue;
      reported = run.entries + state.entries;
      settle(state, run);
      yield { chains: run.chains, entries: reported, breaks: state.breaks.splice(0) };
    }
    endChain(state, head);
    settle(state, run);
    run.entries += state.entries;
    run.chains++;
    if (state.breaks.length === 0 && run.entries - reported < ENTRIES_PER_REPORT) continue;
    reported = run.entries;
    yield { chains: run.chains, entries: run.entries, breaks: state.breaks };
  }
}

/** Moves what a chain asks for, or offers, to the run. Within an organization erasures stream by after what they erased. */
function settle(state: ChainState, run: Run): void {
  const { organizationId } = state.ref;
  for (const blank of state.blanks.splice(0)) {
    let pending = run.blanks.get(organizationId);
    if (!pending) run.blanks.set(organizationId, (pending = new Map<string, Blank>()));
    pending.set(`${blank.entry.hash} ${blank.d}`, blank);
  }
  for (const [hash, d] of state.erasures.splice(0)) run.blanks.get(organizationId)?.delete(`${hash} ${d}`);
  run.transfers.push(...state.transfers.splice(0));
}

function* unauthorised(run: Run): Generator<Break> {
  for (const pending of run.blanks.values()) {
    for (const { entry: { chain, seq, id } } of pending.values()) {
      yield {
        chain,
        position: seq,
        entryId: id,
        kind: 'unauthorised_erasure',
        detail: `entry ${seq} of chain ${chain} lost a value that no erasure entry accounts for`,
      };
    }
  }
}

function* unmatched(transfers: readonly Transfer[]): Generator<Break> {
  const open = new Map<string, Transfer>();
  for (const transfer of transfers) {
    const key = `${transfer.entry.chain} ${transfer.seq} ${transfer.hash}`;
    const other = open.get(key);
    if (other && other.direction !== transfer.direction) open.delete(key);
    else open.set(key, transfer);
  }
  for (const { direction, entry: { chain, seq, id } } of open.values()) {
    yield {
      chain,
      position: seq,
      entryId: id,
      kind: direction === 'out' ? 'truncated' : 'inserted',
      detail: `entry ${seq} of chain ${chain} is one half of a transfer; the other half is not there`,
    };
  }
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
        const next = await iterator.next();
        ended = next.done === true;
        batch = next.done ? [] : next.value;
        at = 0;
      }
      return batch[at];
    },
    take: () => batch[at++],
  };
}

function first(...candidates: (ChainRef | undefined)[]): ChainRef | undefined {
  let found: ChainRef | undefined;
  for (const one of candidates) if (one && (!found || before(one, found))) found = one;
  return found && { organizationId: found.organizationId, chain: found.chain };
}

function before(a: ChainRef, b: ChainRef): boolean {
  return a.organizationId === b.organizationId ? a.chain < b.chain : a.organizationId < b.organizationId;
}

function same(item: ChainRef | undefined, ref: ChainRef): boolean {
  return item !== undefined && item.chain === ref.chain && item.organizationId === ref.organizationId;
}
