import type { IndexedLeaf } from '../../../src/domain/audit/entry/stored-entry.js';
import { PLATFORM_TREE } from '../../../src/domain/audit/notes/checkpoint.js';
import type { EntryPosition, ExportSource } from '../../../src/domain/audit/export/export-source.js';
import type { NextKey } from '../../../src/domain/audit/notes/key-succession.js';
import type { SigningKey } from '../../../src/domain/audit/notes/note.js';
import { mapSiblings, siblingsOfNone } from '../../../src/domain/audit/tree/stored-map-nodes.js';
import { mapKeyOf } from '../../../src/domain/audit/tree/organization-map.js';
import { inclusionProof } from '../../../src/domain/audit/tree/tree-proofs.js';
import { EMPTY_ROOT, hashText } from '../../../src/domain/audit/tree/rfc6962.js';
import type { MemoryLog } from './memory-log.js';
import { readerAt } from './memory-trees.js';

/** What a sweep has deleted, and whom an entry concerns: the database knows, a log in memory is told. */
export interface MemoryFacts {
  readonly keys: readonly NextKey[];
  /** By which sweeps and erasures were signed, by their entries' ids. */
  readonly notes?: ReadonlyMap<string, string>;
  readonly subjects?: readonly { readonly userId: string; readonly entryId: string; readonly pointer: string }[];
}

/** A log in memory, with its trees, as exports read it; in small batches, so that their borders are crossed. */
export function exportSourceOf(log: MemoryLog, key: SigningKey, facts: MemoryFacts, batch = 3): ExportSource {
  const trees = () => log.trees ?? { organizations: new Map<string, never[]>(), checkpoints: [], platform: [], map: undefined };
  const leavesOf = (id: string) => trees().organizations.get(id) ?? [];
  const entryAt = (id: string, { chain, seq }: EntryPosition) =>
    log.entries.find((one) => one.organizationId === id && one.chain === chain && one.seq === seq);
  const newest = (tree: string) => trees().checkpoints.findLast((one) => one.organizationId === tree);
  const headsOf = (id: string, chain?: string) =>
    log.heads
      .filter((one) => one.organizationId === id && (chain ?? one.chain) === one.chain)
      .map((one) => {
        const last = log.entries.findLast((entry) => entry.organizationId === id && entry.chain === one.chain);
        return { ...one, closed: last?.event === 'agent.transferred' && last.payload.includes('"direction":"out"') };
      });
  return {
    instance: key.name,
    keys: () => Promise.resolve(facts.keys),
    checkpoint: (tree) => Promise.resolve(newest(tree)),
    checkpointOfSize: (tree, size) =>
      Promise.resolve(trees().checkpoints.find((one) => one.organizationId === tree && one.size === size)),
    map: async (organizationId) => {
      const [own, all] = [newest(organizationId), newest(PLATFORM_TREE)];
      if (!all) return undefined;
      const { map, platform } = log.trees!;
      const siblings = await (own ? mapSiblings : siblingsOfNone)(map, mapKeyOf(organizationId));
      const index = all.size - 1;
      const hashes = await inclusionProof(readerAt(log.trees!, PLATFORM_TREE, all.size), index, all.size);
      return siblings && {
        organizationId, size: own?.size ?? 0, root: own?.root ?? hashText(EMPTY_ROOT), timestamp: platform[index]!.timestamp,
        siblings: siblings.map(([depth, hash]) => [depth, hashText(hash)] as const),
        platform: { index, size: all.size, hashes: hashes.map(hashText) },
      };
    },
    reader: (tree, size) => readerAt(log.trees!, tree, size),
    leaves: (id, from, to) =>
      inBatches(leavesOf(id).map((leaf, index): IndexedLeaf => ({ ...leaf, index })).slice(from, to), batch),
    pending: (id, size) => {
      const integrated = leavesOf(id);
      const known = new Set(integrated.map(({ chain, seq }) => `${chain} ${seq}`));
      const queued = log.leaves.filter((one) => one.organizationId === id && !known.has(`${one.chain} ${one.seq}`));
      return inBatches([...integrated.slice(size), ...queued], batch);
    },
    entries: (id, places) => Promise.resolve(places.map((place) => entryAt(id, place))),
    heads: (id, chain) => inBatches(headsOf(id, chain), batch),
    countHeads: (id, chain) => Promise.resolve(headsOf(id, chain).length),
    strays: (id, chain) =>
      inBatches(log.entries.filter((one) => one.organizationId === id && (chain ?? one.chain) === one.chain
        && one.seq > (headsOf(id, one.chain)[0]?.seq ?? 0)), batch),
    ofEvent: (id, event) => inBatches(log.entries.filter((one) => one.organizationId === id && one.event === event), batch),
    notes: (_operation, _organizationId, ids) => Promise.resolve(new Map([...(facts.notes ?? [])].filter(([id]) => ids.includes(id)))),
    indexOf: ({ organizationId, chain, seq }) => {
      const index = leavesOf(organizationId).findIndex((one) => one.chain === chain && one.seq === seq);
      return Promise.resolve(index < 0 ? undefined : index);
    },
    window: (id, size, from = '', to = '~') => {
      const times = leavesOf(id).slice(0, size).map((leaf) => entryAt(id, leaf)?.timestamp ?? '');
      const first = times.findIndex((time) => time >= from);
      return Promise.resolve([first < 0 ? size : first, times.findLastIndex((time) => time <= to) + 1] as const);
    },
    about: (id, userId) => {
      const order = (a: EntryPosition, b: EntryPosition) => (a.chain < b.chain ? -1 : a.chain > b.chain ? 1 : a.seq - b.seq);
      const entries = log.entries.filter((one) => one.organizationId === id).sort(order);
      const pointersOf = (entryId: string) =>
        (facts.subjects ?? []).filter((one) => one.userId === userId && one.entryId === entryId).map(({ pointer }) => pointer);
      const found = entries.map(({ id: entryId, chain, seq }) => ({ chain, seq, pointers: pointersOf(entryId) }));
      return inBatches(found.filter(({ pointers }) => pointers.length > 0), batch);
    },
  };
}

async function* inBatches<T>(items: readonly T[], size: number): AsyncGenerator<readonly T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
