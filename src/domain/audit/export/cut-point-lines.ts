import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';
import { line, type LineOf } from './export-lines.js';
import { readPayload } from '../entry/payload.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import type { ExportSource } from './export-source.js';

export type CutPointLine = LineOf<'seam'>;

/** Where retention has cut an organization's chains, and the sweeps' entries that say so. */
export interface CutPointLines {
  /** By chain. */
  readonly lines: ReadonlyMap<string, CutPointLine>;
  /** Entries of those sweeps that still bind, by id. */
  readonly sweeps: ReadonlyMap<string, StoredEntry>;
}

/**
 * Reads them from the sweeps' own entries, the newest word on each chain: what nobody vouches for is no seam.
 *
 * @param size of the checkpoint
 * @param chain of an export of one chain only
 */
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

type CutOfSweep = Pick<CutPointLine, 'chain' | 'seq' | 'hash' | 'count' | 'checkpoint'>;

/** None where the entry cannot be read: it was tampered with then, which is for the verifier to say. */
function cutsOf({ payload }: StoredEntry): CutOfSweep[] {
  const read = readPayload(payload);
  if (typeof read === 'string') return [];
  const { chains, checkpoint } = read.metadata;
  if (!Array.isArray(chains) || !isJsonObject(checkpoint)) return [];
  const { size, root } = checkpoint;
  if (!isNumber(size) || typeof root !== 'string') return [];
  return chains.filter(isCut).map(({ chain, seq, hash, count }) => ({ chain, seq, hash, count, checkpoint: { size, root } }));
}

function isCut(one: JsonValue): one is JsonObject & Pick<CutPointLine, 'chain' | 'seq' | 'hash' | 'count'> {
  return isJsonObject(one) && isNumber(one['seq']) && isNumber(one['count']) && typeof one['chain'] === 'string'
    && typeof one['hash'] === 'string';
}

function isNumber(value: JsonValue | undefined): value is number {
  return Number.isSafeInteger(value);
}
