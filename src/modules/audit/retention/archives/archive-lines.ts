import { PLATFORM_TREE } from '../../../../domain/audit/notes/checkpoint.js';
import { erasureLines } from '../../../../domain/audit/export/log-lines.js';
import { keyMembers, line, lineText, skeletonLine, type ExportLine } from '../../../../domain/audit/export/export-lines.js';
import type { CutPointRow } from '../../../../domain/audit/integrity/log-source.js';
import type { ExportSource } from '../../../../domain/audit/export/export-source.js';
import { sealed } from '../../../../domain/audit/export/sealed-export.js';
import type { SigningKey } from '../../../../domain/audit/notes/note.js';
import type { IndexedLeaf, StoredEntry } from '../../../../domain/audit/entry/stored-entry.js';
import type { HashReader } from '../../../../domain/audit/tree/hash-reader.js';
import { inclusionProof } from '../../../../domain/audit/tree/tree-proofs.js';
import { hashText } from '../../../../domain/audit/tree/rfc6962.js';
import type { ReadStatement } from '../../../../platform/audit/record-keepers.js';
import { authorizationNotes } from '../../keys/authorization-notes.store.js';
import { instanceName, newestCheckpoint, verifierKeys } from '../../checkpoints/checkpoint.query.js';
import { consistencyOf, mapLine } from '../../proofs/proof.query.js';
import { leavesOf, readerOf } from '../../checkpoints/tree-reader.query.js';
import type { RetentionBatch } from '../plan/plan-batch.js';
import { entriesAt } from '../../query/entries.query.js';

const AT_ONCE = 500;
/** Nodes kept of the tree: neighbours in it have most of their paths in common. */
const NODES_KEPT = 20_000;

/** What goes, in the order of the tree, entry by entry. All of it is read in one transaction that stands still. */
export class RetentionBatchReader {
  private readonly last: ReadonlyMap<string, number>;
  private readonly counts = new Map<string, Pick<CutPointRow, 'seq' | 'hash' | 'count'>>();
  private lowest: number | undefined;

  constructor(
    private readonly run: ReadStatement,
    private readonly organizationId: string,
    private readonly slice: RetentionBatch,
  ) {
    this.last = new Map(slice.cuts.map(({ chain, seq }) => [chain, seq]));
  }

  /** The skeleton, without the ends of its lines, and behind them the manifest that seals them. */
  async *skeleton(key: SigningKey): AsyncGenerator<string> {
    for await (const text of sealed(this.lines(new Date().toISOString()), key)) yield text.slice(0, -1);
  }

  /** The values, in the same order. */
  async *disclosures(): AsyncGenerator<string> {
    for await (const { entry: { id, hash, disclosures } } of this.entries()) {
      yield lineText(line('disclosures', { id, hash, text: disclosures })).slice(0, -1);
    }
  }

  private async *lines(madeAt: string): AsyncGenerator<ExportLine> {
    const { run, organizationId, slice: { below } } = this;
    const newest = await newestCheckpoint(run, organizationId);
    const platform = await newestCheckpoint(run, PLATFORM_TREE);
    const map = await mapLine(run, organizationId);
    if (!newest || !platform || !map) throw new Error('there is no checkpoint to prove the entries by');
    const { size } = newest;
    const keys = keyMembers(await verifierKeys(run));
    yield line('export', { v: 1, what: 'archive', instance: await instanceName(run), organizations: [organizationId], ...keys, madeAt });
    yield line('checkpoint', { note: platform.note });
    yield line('checkpoint', { note: newest.note });
    yield map;
    yield line('section', { organizationId, size, chains: 0 });
    if (below.size < size) {
      const hashes = await consistencyOf(run, organizationId, below.size, size);
      yield line('consistency', { organizationId, from: below.size, to: size, hashes });
    }
    const reader = keeping(readerOf(run, organizationId, size));
    const notes: Pick<ExportSource, 'notes'> = { notes: (...of) => authorizationNotes(run, ...of) };
    for await (const { index, entry } of this.entries()) {
      yield* erasureLines(notes, entry);
      yield skeletonLine(entry, index);
      yield line('inclusion', { index, size, hashes: (await inclusionProof(reader, index, size)).map(hashText) });
    }
  }

  /** Where each chain ends that is cut, and how many of its entries go; known once the skeleton was read to its end. */
  get ends(): ReadonlyMap<string, Pick<CutPointRow, 'seq' | 'hash' | 'count'>> {
    return this.counts;
  }

  /** The lowest leaf, of those that were looked at, whose entry stays. */
  get next(): number {
    return this.lowest ?? this.slice.to;
  }

  /** How many entries go. */
  async count(): Promise<number> {
    let count = 0;
    for await (const _leaf of this.leaves()) count++;
    return count;
  }

  private async *entries(): AsyncGenerator<{ index: number; entry: StoredEntry }> {
    this.counts.clear();
    this.lowest = undefined;
    for await (const batch of inBatches(this.leaves())) {
      const entries = await entriesAt(this.run, this.organizationId, batch);
      for (const [n, entry] of entries.entries()) {
        if (!entry) throw new Error('an entry that the tree holds is not in the log');
        const { chain, seq, hash } = entry;
        this.counts.set(chain, { seq, hash, count: (this.counts.get(chain)?.count ?? 0) + 1 });
        yield { index: batch[n]!.index, entry };
      }
    }
  }

  private async *leaves(): AsyncGenerator<IndexedLeaf> {
    const { run, organizationId, slice: { from, to, firsts } } = this;
    for await (const leaves of leavesOf(run, organizationId, from, to)) {
      for (const leaf of leaves) {
        const { chain, seq, index } = leaf;
        if (seq < (firsts.get(chain) ?? Infinity)) continue;
        if (seq <= (this.last.get(chain) ?? 0)) yield leaf;
        else this.lowest ??= index;
      }
    }
  }
}

function keeping(reader: HashReader): HashReader {
  const kept = new Map<string, Uint8Array>();
  return {
    async read(level, indexes) {
      if (kept.size > NODES_KEPT) kept.clear();
      const missing = indexes.filter((index) => !kept.has(`${level} ${index}`));
      if (missing.length > 0) {
        const found = await reader.read(level, missing);
        for (const [n, index] of missing.entries()) kept.set(`${level} ${index}`, found[n]!);
      }
      return indexes.map((index) => kept.get(`${level} ${index}`)!);
    },
  };
}

async function* inBatches<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
