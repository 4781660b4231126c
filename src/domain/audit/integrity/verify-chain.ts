import { findingAt, missingEntries, type Finding } from './findings.js';
import { isAgentChain, organizationChain, type ChainRef } from '../entry/chain.js';
import { checkEntry, type CheckedEntry, type EntryContent } from '../entry/check-entry.js';
import type { StoredEntry, StoredHead, StoredLeaf } from '../entry/stored-entry.js';

/** A value that is gone: an erasure entry must list its entry's hash, its digest and where it stands. */
export interface Blank {
  readonly entry: Pick<StoredEntry, 'chain' | 'seq' | 'id' | 'hash'>;
  /** Digests of the value and of its pointer. */
  readonly what: string;
}

/** An `agent.transferred` entry: its other half stands in another organization, and both name the same position and hash. */
export interface Transfer {
  readonly direction: 'in' | 'out';
  readonly entry: Pick<StoredEntry, 'organizationId' | 'chain' | 'seq' | 'id'>;
  /** Position and hash of the `out` entry. */
  readonly seq: number;
  readonly hash: string;
}

/** The state of a chain while its entries stream by: as much for ten entries as for ten million. */
export interface ChainState {
  readonly ref: ChainRef;
  readonly breaks: Finding[];
  readonly blanks: Blank[];
  readonly transfers: Transfer[];
  entries: number;
  /** Whether each position is compared with its leaf; else nobody says anything of leaves. */
  readonly comparesLeaves: boolean;
  /** Position and hash that the next entry continues: of the last entry, or of the cut point. */
  seq: number;
  hash: string | null;
  last?: StoredEntry;
  /** Whether the last entry had a finding: what hangs on it is then not reported a second time. */
  lastBroken: boolean;
  lastLeft: boolean;
  /** Highest position that the tree knows. */
  leafSeq: number;
  /** Where tree and chain hold different, each in itself sound, entries: a swap shows in pairs. */
  readonly strangers: { entry: StoredEntry; leafHash: string }[];
}

/** Above this many mismatches in one chain swaps are not named. */
const MAX_STRANGERS = 1_000;

/** @param cut point where retention cut the chain: its survivors go on from there */
export function startChain(
  ref: ChainRef, comparesLeaves: boolean, cutPoint?: { readonly seq: number; readonly hash: string | null },
): ChainState {
  return {
    ref, comparesLeaves, breaks: [], blanks: [], transfers: [], entries: 0, seq: cutPoint?.seq ?? 0, hash: cutPoint?.hash ?? null,
    lastBroken: false, lastLeft: false, leafSeq: 0, strangers: [],
  };
}

/** Takes entry and leaf of one position, in ascending order; one may be missing. Gives the content of an entry without a finding. */
export function nextPosition(
  state: ChainState, entry: StoredEntry | undefined, leaf: StoredLeaf | undefined,
): EntryContent | undefined {
  const { chain } = state.ref;
  if (leaf) {
    if (leaf.seq <= state.leafSeq) {
      const detail = `the tree holds position ${leaf.seq} of chain ${chain} twice`;
      state.breaks.push({ chain, position: leaf.seq, entryId: null, kind: 'tree_mismatch', detail });
    }
    state.leafSeq = Math.max(state.leafSeq, leaf.seq);
  }
  if (!entry) return undefined;
  state.entries++;
  const before = state.breaks.length;
  // A transfer may leave a gap, and names the hash that it continues.
  const sequel = entry.seq === state.seq + 1;
  const checked = checkEntry(entry, sequel ? state.hash : undefined);
  for (const { kind, what } of checked.findings) state.breaks.push(findingAt(entry, kind, says(kind, what)));
  const taken = checkOrder(state, entry, checked);
  const sound = checked.findings.length === 0;
  if (!leaf && state.comparesLeaves) {
    state.breaks.push(findingAt(entry, 'inserted', 'was never appended: the tree of its organization does not know it'));
  } else if (leaf && leaf.hash !== entry.hash && sound) stranger(state, entry, leaf.hash);
  else if (sequel && sound && !state.lastBroken && entry.prevHash !== state.hash) {
    state.breaks.push(findingAt(entry, 'forked', 'does not continue the entry before it'));
  }
  if (!taken) remember(state, entry, checked, state.breaks.length > before);
  return taken || state.lastBroken ? undefined : checked.payload;
}

export function endChain(state: ChainState, head: StoredHead | undefined): void {
  const { ref: { chain }, last, breaks } = state;
  endLinks(state);
  const end = Math.max(head?.seq ?? 0, state.leafSeq);
  if (!last && state.seq === 0) {
    if (end > 0) breaks.push(missingEntries(chain, 1, end, 'chain_removed', 'the whole chain is gone'));
    return;
  }
  if (end > state.seq) breaks.push(missingEntries(chain, state.seq + 1, end, 'truncated', 'the end of the chain was cut off'));
  if (!last) {
    if (head?.seq === state.seq && head.hash === state.hash) return;
    if (end > state.seq) return;
    const detail = `chain ${chain} was cut off at ${state.seq}, and its head does not say that it ends there`;
    breaks.push({ chain, position: state.seq, entryId: null, kind: 'truncated', detail });
  } else if (!head) {
    const detail = `the head of chain ${chain} is missing: nothing says where the chain ends`;
    breaks.push({ chain, position: last.seq, entryId: last.id, kind: 'truncated', detail });
  } else if (head.seq < last.seq && !state.lastBroken) {
    breaks.push(findingAt(last, 'inserted', `stands beyond the head of the chain, which ends at ${head.seq}`));
  } else if (head.seq === last.seq && head.hash !== last.hash && !state.lastBroken) {
    breaks.push(findingAt(last, 'edited', 'is not the entry that the head of the chain names'));
  } else if (head.seq === last.seq && head.closed !== undefined && head.closed !== state.lastLeft && !state.lastBroken) {
    breaks.push(findingAt(last, 'edited', 'does not fit its head, which is open or closed'));
  }
}

function says(kind: Finding['kind'], what: string): string {
  return kind === 'edited' ? `was changed after it was written: ${what}` : `has a changed column: ${what}`;
}

/** Whether the entry stands at a position that another one has taken, which then counts as the chain's. */
function checkOrder(state: ChainState, entry: StoredEntry, { payload }: CheckedEntry): boolean {
  const { ref, seq: lastSeq } = state;
  if (!isAgentChain(ref.chain) && ref.chain !== organizationChain(ref.organizationId).chain) {
    state.breaks.push(findingAt(entry, 'inserted', 'stands in a chain that is not of its organization'));
  }
  if (entry.seq <= lastSeq) {
    state.breaks.push(findingAt(entry, 'forked', 'stands at a position that is taken'));
    return true;
  }
  const transfer = payload?.event === 'agent.transferred' ? payload.metadata : undefined;
  if (transfer && transfer['direction'] !== 'in' && transfer['direction'] !== 'out') {
    state.breaks.push(findingAt(entry, 'inserted', 'is a transfer neither in nor out: no server writes that'));
  }
  const arrives = transfer?.['direction'] === 'in' && (state.last === undefined || state.lastLeft);
  if (payload?.event === 'agent.registered' && entry.seq > 1) {
    state.breaks.push(findingAt(entry, 'inserted', 'registers an agent that has entries already'));
  }
  if (arrives) {
    const { fromSeq, fromHash } = transfer;
    if (fromSeq !== entry.seq - 1 || fromHash !== entry.prevHash) {
      state.breaks.push(findingAt(entry, 'inserted', 'claims a transfer, but does not continue the entry that it names'));
    }
    return false;
  }
  if (state.lastLeft) {
    state.breaks.push(findingAt(entry, 'inserted', 'follows the entry with which the agent left this organization'));
  }
  if (entry.seq > lastSeq + 1) {
    state.breaks.push(missingEntries(state.ref.chain, lastSeq + 1, entry.seq - 1, 'deleted', 'something was taken out of the chain'));
  }
  return false;
}

function stranger(state: ChainState, entry: StoredEntry, leafHash: string): void {
  if (state.strangers.length < MAX_STRANGERS) state.strangers.push({ entry, leafHash });
  else state.breaks.push(findingAt(entry, 'tree_mismatch', 'is not the one that the tree of its organization holds there'));
}

/** After the last entry: what only shows in all of them. */
export function endLinks({ strangers, breaks }: ChainState): void {
  const appended = new Set(strangers.map((one) => one.leafHash));
  for (const { entry } of strangers) {
    breaks.push(
      appended.has(entry.hash)
        ? findingAt(entry, 'reordered', 'was moved: it was appended at another position')
        : findingAt(entry, 'tree_mismatch', 'is not the one that the tree of its organization holds there'),
    );
  }
}

function remember(state: ChainState, entry: StoredEntry, { payload, blanks }: CheckedEntry, broken: boolean): void {
  const { chain, seq, id, hash } = entry;
  for (const what of blanks) state.blanks.push({ entry: { chain, seq, id, hash }, what });
  state.last = entry;
  state.seq = seq;
  state.hash = hash;
  state.lastLeft = false;
  state.lastBroken = broken || state.strangers.at(-1)?.entry === entry;
  if (state.lastBroken || payload?.event !== 'agent.transferred') return;
  const { direction } = payload.metadata;
  state.lastLeft = direction === 'out';
  const ref = { organizationId: entry.organizationId, chain, seq, id };
  if (direction === 'out') state.transfers.push({ direction, entry: ref, seq, hash });
  if (direction === 'in') state.transfers.push({ direction, entry: ref, seq: seq - 1, hash: entry.prevHash ?? '' });
}
