import { prepareEntry, type RecordedEvent, type Stamp } from '../../../src/domain/audit/entry/prepare-entry.js';
import { entryHash, preimage } from '../../../src/domain/audit/entry/entry-hash.js';
import type { StoredEntry, StoredHead, StoredLeaf } from '../../../src/domain/audit/entry/stored-entry.js';
import { PLATFORM_TREE } from '../../../src/domain/audit/notes/checkpoint.js';
import type { ChainRef } from '../../../src/domain/audit/entry/chain.js';
import type { EntryRange, LogSource, ShownKey, ShownMapNode, CutPointRow } from '../../../src/domain/audit/integrity/log-source.js';
import { publicHalf, signNote, type SigningKey } from '../../../src/domain/audit/notes/note.js';
import { authorizationText, statementIn } from '../../../src/domain/audit/notes/authorization-note.js';
import { verifyLog } from '../../../src/domain/audit/integrity/verify-log.js';
import { byChain } from '../../../src/domain/audit/integrity/verify-entries.js';
import type { Finding } from '../../../src/domain/audit/integrity/findings.js';
import { mapKeyOf, type OrganizationHead } from '../../../src/domain/audit/tree/organization-map.js';
import { leafHashes, rootAt, type MemoryTrees } from './memory-trees.js';

/** A log in memory, appended to as the database does it. */
export interface MemoryLog {
  entries: StoredEntry[];
  heads: StoredHead[];
  /** In the tree or still in the queue before it. */
  leaves: StoredLeaf[];
  /** Only of a log that was integrated (memory-trees.ts). */
  trees?: MemoryTrees;
  /** Name of the installation, which is that of its keys. */
  instance?: string;
  keys?: readonly ShownKey[];
  cutPoints?: readonly CutPointRow[];
  /** By which erasures were signed, by their entries' ids. */
  erasureNotes?: ReadonlyMap<string, string>;
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

/** Signs what every entry of an erasure says, and shows the key as the one that signs. */
export function withSignedErasures(log: MemoryLog, key: SigningKey): MemoryLog {
  const notes = log.entries.filter(({ event }) => event === 'gdpr.erasure_executed').map((entry) =>
    [entry.id, signNote(authorizationText('erasure', key.name, entry.organizationId, statementIn(entry)), [key])] as const);
  return { ...log, instance: key.name, keys: [{ key: publicHalf(key).text, fromSize: 0 }], erasureNotes: new Map(notes) };
}

/** Shows a log to the verifier in small batches, so that batch borders are crossed, and in two ranges. */
export function sourceOf(log: MemoryLog, batch = 3): LogSource {
  const inBatches = async function* <T>(items: readonly T[]) {
    for (let at = 0; at < items.length; at += batch) yield items.slice(at, at + batch);
  };
  const chosen = <T extends ChainRef & { seq: number }>(items: readonly T[], { from, to, chains, organizations }: EntryRange) =>
    items
      .filter((one) => (!chains || chains.includes(one.chain)) && (!organizations || organizations.includes(one.organizationId)))
      .filter((one) => (!from || byChain(one, from) >= 0) && (!to || byChain(one, to) < 0))
      .sort((a, b) => byChain(a, b) || a.seq - b.seq);
  const treeOf = (id: string) => log.trees?.organizations.get(id) ?? [];
  const trees = [...(log.trees?.organizations.keys() ?? []), ...(log.trees?.platform.length ? [PLATFORM_TREE] : [])];
  const newest = log.trees?.platform.at(-1);
  return {
    whole: true,
    header: async (agentId) => {
      const all: ChainRef[] = [...log.heads, ...log.entries, ...log.leaves];
      const refs = all.filter(({ chain }) => (agentId ?? chain) === chain).sort(byChain);
      const middle = refs[Math.floor(refs.length / 2)];
      return {
        instance: log.instance ?? 'countersign-test',
        keys: log.keys ?? [],
        trees: await Promise.all(trees.map(async (tree) => {
          const size = leafHashes(log.trees!, tree).length;
          return { tree, size, root: await rootAt(log.trees!, tree, size) };
        })),
        cutPoints: log.cutPoints ?? [],
        organizations: [...new Set(refs.map(({ organizationId }) => organizationId))],
        ranges: middle ? [{ to: middle }, { from: middle }] : [{}],
        total: log.entries.length,
      };
    },
    read: (range) => ({ heads: inBatches(chosen(log.heads, range)), entries: inBatches(chosen(log.entries, range)) }),
    leaves: async function* (id) {
      for (let from = 0; from < treeOf(id).length; from += batch) yield { from, leaves: treeOf(id).slice(from, from + batch) };
    },
    queued: (organizations) => inBatches(log.leaves.filter((one) =>
      (!organizations || organizations.includes(one.organizationId)) && !treeOf(one.organizationId).some((known) => sameLeaf(known, one)))),
    sorted: (id, chains) => {
      const inTree = treeOf(id);
      const queue = log.leaves.filter((one) => one.organizationId === id && !inTree.some((known) => sameLeaf(known, one)));
      return inBatches(chosen([...inTree, ...queue], { organizations: [id], ...(chains ? { chains } : {}) }));
    },
    platformLeaves: async function* () {
      yield { from: 0, texts: (log.trees?.platform ?? []).map(({ data }) => data) };
    },
    checkpoints: (tree) =>
      inBatches((log.trees?.checkpoints ?? []).filter((one) => one.organizationId === tree)
        .sort((a, b) => a.size - b.size)),
    checkpointTimes: () => inBatches((log.trees?.checkpoints ?? [])
      .map(({ organizationId: tree, platformSize, madeAt }) => ({ tree, platformSize, madeAt }))
      .sort((a, b) => a.platformSize - b.platformSize)),
    erasureNotes: (_, ids) => Promise.resolve(new Map([...(log.erasureNotes ?? [])].filter(([id]) => ids.includes(id)))),
    mapNodes: () => inBatches(mapNodesOf(log)),
    mapHead: (id) => Promise.resolve(newest && mapped(log).find(({ organization }) => organization === id)),
    recoveries: () => Promise.resolve(log.entries.filter(({ event }) => event === 'admin.recovered').map(({ payload }) => payload)),
    mapContents: (keys) => log.trees!.map.contents(keys),
  };
}

function mapNodesOf({ trees }: MemoryLog): ShownMapNode[] {
  const nodes = [...(trees?.map.nodes.values() ?? [])].map(({ depth, prefix, hash, head }) =>
    ({ depth, prefix, hash, organization: head?.organization ?? null, size: head?.size ?? null, root: head?.root ?? null }));
  const place = ({ organization, prefix }: ShownMapNode) => (organization === null ? prefix : mapKeyOf(organization));
  return nodes.sort((a, b) => Buffer.compare(place(a), place(b)) || a.depth - b.depth);
}

function mapped({ trees }: MemoryLog): OrganizationHead[] {
  return [...(trees?.map.nodes.values() ?? [])].flatMap(({ head }) => head ?? []);
}

function sameLeaf(a: StoredLeaf, b: StoredLeaf): boolean {
  return a.chain === b.chain && a.seq === b.seq;
}

export async function breaksOf(log: MemoryLog, agentId?: string): Promise<readonly Finding[]> {
  return (await verifyLog(sourceOf(log), agentId === undefined ? {} : { agentId })).breaks;
}
