import { isJsonObject } from '../../json.js';
import { isCount, isCut } from '../integrity/row-decoding.js';
import { line, type LineOf } from './export-lines.js';
import { metadataOf } from '../entry/payload.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import type { ExportSource } from './export-source.js';

export type CutPointLine = LineOf<'seam'>;

/** Where retention has cut an organization's chains, and the entries of these retention runs. */
export interface CutPointLines {
  /** By chain. */
  readonly lines: ReadonlyMap<string, CutPointLine>;
  /** Entries of those sweeps that still bind, by id. */
  readonly sweeps: ReadonlyMap<string, StoredEntry>;
}

/** Reads cut points from the entries of retention runs, the newest of each chain. @param chain of an export of one chain only */
export async function cutPointLinesOf(source: ExportSource, organizationId: string, size: number, chain?: string): Promise<CutPointLines> {
  const lines = new Map<string, CutPointLine>();
  const sweeps = new Map<string, StoredEntry>();
  for await (const batch of source.ofEvent(organizationId, 'admin.audit_retention_sweep')) {
    for (const entry of batch) {
      const cuts = cutsOf(entry).filter((one) => chain === undefined || one.chain === chain);
      if (cuts.length === 0) continue;
      const index = await source.indexOf(entry);
      const sweepIndex = index !== undefined && index < size ? index : null;
      sweeps.set(entry.id, entry);
      for (const cut of cuts) lines.set(cut.chain, line('seam', { ...cut, organizationId, sweepEntryId: entry.id, sweepIndex }));
    }
  }
  const binding = new Set([...lines.values()].map(({ sweepEntryId }) => sweepEntryId));
  for (const id of sweeps.keys()) if (!binding.has(id)) sweeps.delete(id);
  return { lines, sweeps };
}

/** None where the entry cannot be read: it was tampered with then, which is for the verifier to say. */
function cutsOf({ payload }: StoredEntry): Pick<CutPointLine, 'chain' | 'seq' | 'hash' | 'count' | 'checkpoint'>[] {
  const { chains, checkpoint } = metadataOf(payload);
  if (!Array.isArray(chains) || !isJsonObject(checkpoint)) return [];
  const { size, root } = checkpoint;
  if (!isCount(size) || typeof root !== 'string') return [];
  return chains.filter((one) => isCut(one)).map(({ chain, seq, hash, count }) => ({ chain, seq, hash, count, checkpoint: { size, root } }));
}
