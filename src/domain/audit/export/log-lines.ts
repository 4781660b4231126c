import { PLATFORM_TREE, type StoredCheckpoint } from '../notes/checkpoint.js';
import { blanksIn } from '../erasure/erase-disclosures.js';
import { entryLine, keyMembers, line, type ExportLine, type LineOf } from './export-lines.js';
import { metadataOf } from '../entry/payload.js';
import type { IndexedLeaf, StoredEntry } from '../entry/stored-entry.js';
import { consistencyProof, inclusionProof } from '../tree/tree-proofs.js';
import { hashText } from '../tree/rfc6962.js';
import type { EntryPosition, ExportSource } from './export-source.js';
import { blanksListed } from '../integrity/verify-erasures.js';
import { GapBuilder, rangeGap } from './gap-lines.js';
import { cutPointLinesOf, type CutPointLines } from './cut-point-lines.js';

export interface ExportSelection {
  /** Sections come in this order. */
  readonly organizations: readonly string[];
  /** Whether these are all that there are. */
  readonly all?: true;
  /** Times, both inclusive; ISO 8601, UTC, with milliseconds. They make one window of each tree. */
  readonly from?: string;
  readonly to?: string;
  /** One agent's chain alone; of all others only that they are there. */
  readonly agentId?: string;
  /** Size of an older checkpoint, from which the file shows that the organization's tree goes on. */
  readonly since?: number;
  /** The same of the platform's tree. */
  readonly platformSince?: number;
}

const ERASURE = 'gdpr.erasure_executed';
/** Entries that are in memory at once: one may have as many bytes as a request. */
const ENTRIES_AT_ONCE = 100;

/** An export of the log, every line but the manifest. Entries that were tampered with are written as they are. */
export async function* logLines(source: ExportSource, selection: ExportSelection, madeAt: string): AsyncGenerator<ExportLine> {
  const { organizations, all, from, to, agentId } = selection;
  const keys = keyMembers(await source.keys());
  yield line('export', { v: 1, what: 'log', instance: source.instance, organizations, all, madeAt, from, to, agentId, ...keys });
  const checkpoints = yield* checkpointLines(source, organizations);
  yield* platformConsistency(source, selection, checkpoints);
  for (const id of organizations) yield* sectionLines(source, selection, id, checkpoints.get(id));
}

/** The newest checkpoint of the platform and of each organization. They are given back, by tree, to go on from. */
export async function* checkpointLines(
  source: ExportSource, organizations: readonly string[],
): AsyncGenerator<ExportLine, Map<string, StoredCheckpoint>> {
  const found = new Map<string, StoredCheckpoint>();
  for (const tree of [PLATFORM_TREE, ...organizations]) {
    const checkpoint = await source.checkpoint(tree);
    if (!checkpoint) continue;
    found.set(tree, checkpoint);
    yield line('checkpoint', { note: checkpoint.note });
  }
  return found;
}

/** That an entry stands in its organization's tree of `size` leaves. */
export function inclusionLine(source: ExportSource, organizationId: string, index: number, size: number): AsyncGenerator<ExportLine> {
  return whereProven(async () => {
    const hashes = await inclusionProof(source.reader(organizationId, size), index, size);
    return line('inclusion', { index, size, hashes: hashes.map(hashText) });
  });
}

/** That an organization's checkpoint is under the platform's. */
export function mapLine(source: ExportSource, organizationId: string): AsyncGenerator<ExportLine> {
  return whereProven(async () => {
    const map = await source.map(organizationId);
    return map && line('map', map);
  });
}

/** A line with a proof. Where stored trees were changed and have none, the verifier of the file finds that it is missing. */
async function* whereProven(prove: () => Promise<ExportLine | undefined>): AsyncGenerator<ExportLine> {
  const proven = await prove().catch((error: unknown) => {
    if (error instanceof RangeError) return undefined;
    throw error;
  });
  if (proven) yield proven;
}

/** The signature before an entry of an erasure. */
export async function* erasureLines(source: Pick<ExportSource, 'notes'>, entry: StoredEntry): AsyncGenerator<LineOf<'erasure'>> {
  if (entry.event !== ERASURE) return;
  const { organizationId, id } = entry;
  for (const note of (await source.notes('erasure', organizationId, [id])).values()) yield line('erasure', { note });
}

/** From the named size; with an older checkpoint of one organization, from the platform's of the same moment. */
async function* platformConsistency(
  source: ExportSource, { organizations: [only, ...others], since, platformSince }: ExportSelection,
  checkpoints: ReadonlyMap<string, StoredCheckpoint>,
): AsyncGenerator<ExportLine> {
  const isOfOne = since !== undefined && only !== undefined && others.length === 0;
  const then = isOfOne ? await source.checkpointOfSize(only, since) : undefined;
  const { size } = checkpoints.get(PLATFORM_TREE) ?? { size: 0 };
  for (const past of new Set([platformSince ?? 0, then?.platformSize ?? 0])) yield* consistencyLine(source, PLATFORM_TREE, past, size);
}

async function* consistencyLine(source: ExportSource, tree: string, from: number, to: number): AsyncGenerator<ExportLine> {
  if (from <= 0 || from >= to) return;
  yield* whereProven(async () => {
    const hashes = await consistencyProof(source.reader(tree, to), from, to);
    return line('consistency', { organizationId: tree, from, to, hashes: hashes.map(hashText) });
  });
}

async function* sectionLines(
  source: ExportSource, selection: ExportSelection, id: string, checkpoint: StoredCheckpoint | undefined,
): AsyncGenerator<ExportLine> {
  const { agentId, since, from, to } = selection;
  const size = checkpoint?.size ?? 0;
  yield* mapLine(source, id);
  yield line('section', { organizationId: id, size, chains: await source.countHeads(id, agentId) });
  const cutPoints = await cutPointLinesOf(source, id, size, agentId);
  const ofCutPoints = [...cutPoints.lines.values()].map(({ checkpoint }) => checkpoint.size);
  const pasts = new Set([...(since === undefined ? [] : [since]), ...ofCutPoints]);
  for (const past of pasts) yield* consistencyLine(source, id, past, size);
  for (const [entryId, note] of await source.notes('sweep', id, [...cutPoints.sweeps.keys()])) {
    yield line('sweep', { organizationId: id, entryId, note });
  }
  yield* cutPoints.lines.values();

  const isPart = (from ?? to ?? agentId) !== undefined;
  const part = new Section(source, id, size, agentId, cutPoints, isPart);
  const [first, end] = from === undefined && to === undefined ? [0, size] : await source.window(id, size, from, to);
  yield* part.leaves(first, Math.max(first, end));
  if (isPart) yield* part.apart(false);
  // What is behind the checkpoint cannot be left out of a chain of which something is shown from there, or all up to it.
  if (end >= size || (isPart && (await part.needsPending()))) yield* part.pending();
  if (isPart) yield* part.apart(true);
  for await (const heads of source.heads(id, agentId)) {
    for (const { chain, seq, hash, closed } of heads) yield line('head', { organizationId: id, chain, seq, hash, closed });
  }
}

/** The entries of one organization on their way into the file. */
class Section {
  /** Of a part: blanked values that are shown, and ids of shown entries that account for them, or for a cut point. */
  private readonly blanks = new Set<string>();
  private readonly shown = new Set<string>();
  /** The last position of each chain that is shown. */
  private readonly ends = new Map<string, number>();

  constructor(
    private readonly source: ExportSource, private readonly id: string, private readonly size: number,
    private readonly agentId: string | undefined, private readonly cutPoints: CutPointLines, private readonly isPart: boolean,
  ) {}

  async *leaves(first: number, end: number): AsyncGenerator<ExportLine> {
    const { source, id, size } = this;
    // An empty window leaves out everything, in one gap.
    const leads = first < end ? first : size;
    if (leads > 0) yield* whereProven(() => rangeGap(source.reader(id, size), 0, leads));
    if (leads === size) return;
    const gap = new GapBuilder();
    for await (const batch of source.leaves(id, first, end)) {
      for (let at = 0; at < batch.length; at += ENTRIES_AT_ONCE) yield* this.some(batch.slice(at, at + ENTRIES_AT_ONCE), gap);
    }
    const last = gap.end();
    if (last) yield last;
    if (end < size) yield* whereProven(() => rangeGap(source.reader(id, size), end, size));
  }

  /** The erasures and sweeps that this part needs: covered ones with a proof each, the others after all they account for. */
  async *apart(areBehind: boolean): AsyncGenerator<ExportLine> {
    const behind: StoredEntry[] = [];
    for await (const [entry, index] of this.needed()) {
      if (index === undefined || index >= this.size) {
        behind.push(entry);
        continue;
      }
      this.shown.add(entry.id);
      yield* erasureLines(this.source, entry);
      yield entryLine(entry, index);
      yield* inclusionLine(this.source, this.id, index, this.size);
    }
    for (const entry of areBehind ? behind.sort((a, b) => a.seq - b.seq) : []) {
      yield* erasureLines(this.source, entry);
      yield entryLine(entry, null);
    }
  }

  /** Whether something that is not under the checkpoint accounts for what is shown. */
  async needsPending(): Promise<boolean> {
    for await (const [, index] of this.needed()) if (index === undefined || index >= this.size) return true;
    return false;
  }

  async *pending(): AsyncGenerator<ExportLine> {
    const { source, id, size, agentId } = this;
    for await (const batch of source.pending(id, size)) {
      const wanted = batch.filter((one) => !this.reasonFor(one));
      for (let at = 0; at < wanted.length; at += ENTRIES_AT_ONCE) {
        const entries = await source.entries(id, wanted.slice(at, at + ENTRIES_AT_ONCE));
        for (const entry of entries) if (entry) yield* this.show(entry, null);
      }
    }
    for await (const batch of source.strays(id, agentId)) {
      for (const entry of batch) if (await this.isStray(entry)) yield* this.show(entry, null);
    }
  }

  /** Where a head was set back or taken away, what is behind it may stand in the tree, and so in the file or in a gap, all the same. */
  private async isStray(entry: StoredEntry): Promise<boolean> {
    if (entry.seq <= (this.ends.get(entry.chain) ?? 0) || this.reasonFor(entry)) return false;
    return (await this.source.indexOf(entry)) === undefined;
  }

  private async *some(leaves: readonly IndexedLeaf[], gap: GapBuilder): AsyncGenerator<ExportLine> {
    const entries = await this.source.entries(this.id, leaves.filter((one) => !this.reasonFor(one)));
    let n = 0;
    for (const leaf of leaves) {
      const because = this.reasonFor(leaf);
      // The last leaf that a retention run cut off a chain is a gap of its own, so that its position is visible.
      const cutPoint = this.cutPoints.lines.get(leaf.chain);
      const isEnd = cutPoint?.seq === leaf.seq && because === 'swept';
      const ended = [isEnd || !because ? gap.end() : undefined, because && gap.add(leaf, because), isEnd ? gap.end() : undefined];
      for (const one of ended) if (one) yield one;
      if (because) continue;
      const entry = entries[n++];
      if (entry) yield* this.show(entry, leaf.index);
    }
  }

  private reasonFor({ chain, seq }: EntryPosition): 'swept' | 'hidden' | undefined {
    const cutPoint = this.cutPoints.lines.get(chain);
    if (cutPoint && seq <= cutPoint.seq) return 'swept';
    return this.agentId !== undefined && chain !== this.agentId ? 'hidden' : undefined;
  }

  private async *show(entry: StoredEntry, index: number | null): AsyncGenerator<ExportLine> {
    this.ends.set(entry.chain, Math.max(entry.seq, this.ends.get(entry.chain) ?? 0));
    if (this.isPart) {
      for (const blank of readable(() => blanksIn(entry.disclosures))) this.blanks.add([entry.hash, ...blank].join(' '));
      if (accounts(entry)) this.shown.add(entry.id);
    }
    yield* erasureLines(this.source, entry);
    yield entryLine(entry, index);
  }

  /** Entries outside of this part that account for a cut point or a blank in it, with their indexes. */
  private async *needed(): AsyncGenerator<readonly [StoredEntry, number | undefined]> {
    const { source, id, blanks, shown, cutPoints } = this;
    for (const sweep of cutPoints.sweeps.values()) if (!shown.has(sweep.id)) yield [sweep, await source.indexOf(sweep)];
    if (blanks.size === 0) return;
    for await (const batch of source.ofEvent(id, ERASURE)) {
      for (const entry of batch) {
        if (!shown.has(entry.id) && erasedBy(entry).some((blank) => blanks.has(blank))) yield [entry, await source.indexOf(entry)];
      }
    }
  }
}

function accounts({ event }: StoredEntry): boolean {
  return event === ERASURE || event === 'admin.audit_retention_sweep';
}

/** Nothing where it was tampered with: the verifier of the file says so. */
function readable<T>(read: () => T[]): T[] {
  try {
    return read();
  } catch {
    return [];
  }
}

function erasedBy({ payload }: StoredEntry): string[] {
  return blanksListed(metadataOf(payload)['erased']);
}
