import { getOrInsert } from '../../collections.js';
import type { EntryRange, LogSource } from './log-source.js';
import { LeafHasher, MultisetHash, type MultisetDigest } from '../completeness/multiset-hash.js';
import { toEnd, verifyEntries, type EntriesFound, type EntriesOrder } from './verify-entries.js';
import { verifyMap, type MapFound } from '../tree/verify-map.js';
import {
  verifyPlatformTree, verifyTree,
  type OrganizationTreeFound, type OrganizationTreeOrder, type PlatformFound, type TreeOrder,
} from '../tree/verify-tree.js';

/** Each kind of task: its order, and what it finds. */
interface Kinds {
  entries: [{ readonly range: EntryRange; readonly order: EntriesOrder }, EntriesFound];
  trees: [{ readonly orders: readonly OrganizationTreeOrder[] }, readonly OrganizationTreeFound[]];
  platform: [{ readonly order: TreeOrder }, PlatformFound];
  /** Findings in the map are named at this position of the platform's tree. */
  map: [{ readonly position: number }, MapFound];
  queue: [QueueOrder, ReadonlyMap<string, MultisetDigest>];
}

interface QueueOrder {
  readonly sumKey: Uint8Array;
  readonly organizations?: readonly string[];
  readonly chains?: readonly string[];
}

/** A part of a verification that can be done by itself, on any thread that has a source of the same moment. */
export type Task = { [K in keyof Kinds]: Kinds[K][0] & { readonly kind: K } }[keyof Kinds];
export type TaskFound = { [K in keyof Kinds]: { readonly kind: K; readonly found: Kinds[K][1] } }[keyof Kinds];

/** Does tasks in any order, on any number of threads. */
export interface TaskRunner {
  run(tasks: readonly Task[], onEntries: (entries: number) => void): Promise<readonly TaskFound[]>;
}

export async function doTask(source: LogSource, task: Task, onEntries: (entries: number) => void): Promise<TaskFound> {
  switch (task.kind) {
    case 'entries':
      return { kind: 'entries', found: await toEnd(verifyEntries(source.read(task.range), task.order), onEntries) };
    case 'trees': {
      const found: OrganizationTreeFound[] = [];
      for (const order of task.orders) {
        found.push(await verifyTree(source.leaves(order.shown.tree), source.checkpoints(order.shown.tree), order));
      }
      return { kind: 'trees', found };
    }
    case 'platform': {
      const [checkpoints, times] = [source.checkpoints(task.order.shown.tree), source.checkpointTimes()];
      return { kind: 'platform', found: await verifyPlatformTree(source.platformLeaves(), checkpoints, task.order, times) };
    }
    case 'map':
      return { kind: 'map', found: await verifyMap(source.mapNodes(), task.position) };
    case 'queue':
      return { kind: 'queue', found: await queueOf(source, task) };
  }
}

/** One after another, where the caller is. */
export function inTurn(source: LogSource): TaskRunner {
  return {
    run: async (tasks, onEntries) => {
      const found: TaskFound[] = [];
      for (const task of tasks) found.push(await doTask(source, task, onEntries));
      return found;
    },
  };
}

/** The sum of each organization's leaves that no tree has taken yet. */
async function queueOf(source: LogSource, { sumKey, organizations, chains }: QueueOrder): Promise<Map<string, MultisetDigest>> {
  const hasher = new LeafHasher(sumKey);
  const wanted = chains && new Set(chains);
  const sums = new Map<string, MultisetHash>();
  for await (const leaves of source.queued(organizations)) {
    for (const leaf of leaves) {
      if (wanted && !wanted.has(leaf.chain)) continue;
      hasher.take(leaf);
      hasher.addTo(getOrInsert(sums, leaf.organizationId, () => new MultisetHash()));
    }
  }
  return new Map([...sums].map(([id, sum]) => [id, sum.summed]));
}
