import { prepareEntry, type RecordedEvent, type Stamp } from '../../src/domain/audit/entry.js';
import { entryHash, preimage } from '../../src/domain/audit/hash.js';
import type { StoredEntry, StoredHead, StoredLeaf } from '../../src/domain/audit/stored-entry.js';
import { verifyLog, type LogSource, type Selection } from '../../src/domain/audit/verify.js';
import type { Break } from '../../src/domain/audit/breaks.js';
import type { MemoryTrees } from './memory-trees.js';

/** A log in memory, appended to as the database does it. */
export interface MemoryLog {
  entries: StoredEntry[];
  heads: StoredHead[];
  /** In the tree or still in the queue before it. */
  leaves: StoredLeaf[];
  /** Only of a log that was integrated (memory-trees.ts). */
  trees?: MemoryTrees;
}

export { checkpoint, integrate } from './memory-trees.js';

export function append(log: MemoryLog, event: RecordedEvent, stamp: Stamp): StoredEntry {
  const prepared = prepareEntry(event, stamp);
  const { organizationId, chain } = prepared;
  const head = log.heads.find((one) => one.chain === chain && one.organizationId === organizationId);
  const prevHash = head?.hash ?? undefined;
  const seq = (head?.seq ?? 0) + 1;
  const hash = entryHash(preimage({ ...prepared, prevHash }));
  const entry: StoredEntry = {
    organizationId,
    chain,
    seq,
    id: prepared.id,
    event: prepared.event,
    agentId: prepared.agentId ?? null,
    actorId: prepared.actorId,
    capability: prepared.capability ?? null,
    outcome: prepared.outcome ?? null,
    timestamp: prepared.timestamp,
    payload: prepared.payload,
    disclosures: prepared.disclosures,
    prevHash: prevHash ?? null,
    hash,
  };
  log.entries.push(entry);
  log.heads = [...log.heads.filter((one) => one !== head), { organizationId, chain, seq, hash }];
  log.leaves.push({ organizationId, chain, seq, hash });
  return entry;
}

interface Placed {
  readonly organizationId: string;
  readonly chain: string;
  readonly seq: number;
}

/** Shows a log to the verifier in small batches, so that batch borders are crossed. */
export function sourceOf(log: MemoryLog, batch = 3): LogSource {
  const stream = async function* <T extends Placed>(items: readonly T[], { organizationId, chain }: Selection) {
    const chosen = items
      .filter((one) => (chain ?? one.chain) === one.chain && (organizationId ?? one.organizationId) === one.organizationId)
      .sort((a, b) => order(a.organizationId, b.organizationId) || order(a.chain, b.chain) || a.seq - b.seq);
    for (let at = 0; at < chosen.length; at += batch) yield chosen.slice(at, at + batch);
  };
  return {
    whole: true,
    read: (selection) => ({
      heads: stream(log.heads, selection),
      entries: stream(log.entries, selection),
      leaves: stream(log.leaves, selection),
    }),
  };
}

export async function breaksOf(log: MemoryLog, agentId?: string): Promise<Break[]> {
  const breaks: Break[] = [];
  for await (const progress of verifyLog(sourceOf(log), agentId)) breaks.push(...progress.breaks);
  return breaks;
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
