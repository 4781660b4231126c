import type { EntryRange, LogSource } from './log-source.js';
import { addMultisets, MultisetHash, LeafHasher, EMPTY_MULTISET, type MultisetDigest } from '../completeness/multiset-hash.js';
import { verifyEntries, type EntriesFound, type EntriesOrder, type OrganizationFound } from './verify-entries.js';
import { verifyMap, type MapFound } from '../tree/verify-map.js';
import {
  verifyPlatformTree, verifyTree,
  type OrganizationTreeFound, type OrganizationTreeOrder, type PlatformFound, type TreeOrder,
} from '../tree/verify-tree.js';

/** A part of a verification that can be done by itself, on any thread that has a source of the same moment. */
export type Task =
  | { readonly kind: 'entries'; readonly range: EntryRange; readonly order: EntriesOrder }
  | { readonly kind: 'trees'; readonly orders: readonly OrganizationTreeOrder[] }
  | { readonly kind: 'platform'; readonly order: TreeOrder }
  | {
      readonly kind: 'map';
      /** Where in the platform's tree its nodes are named. */
      readonly position: number;
    }
  | {
      readonly kind: 'queue'; readonly sumKey: Uint8Array; readonly organizations?: readonly string[]; readonly chains?: readonly string[];
    };

export type TaskFound =
  | { readonly kind: 'entries'; readonly found: EntriesFound }
  | { readonly kind: 'trees'; readonly found: readonly OrganizationTreeFound[] }
  | { readonly kind: 'platform'; readonly found: PlatformFound }
  | { readonly kind: 'map'; readonly found: MapFound }
  | { readonly kind: 'queue'; readonly found: ReadonlyMap<string, MultisetDigest> };

/** Does tasks; in which order and on how many threads is its own affair. */
export interface TaskRunner {
  run(tasks: readonly Task[], onEntries: (entries: number) => void): Promise<readonly TaskFound[]>;
}

/** Does a task to its end. */
export async function doTask(source: LogSource, task: Task, onEntries: (entries: number) => void): Promise<TaskFound> {
  switch (task.kind) {
    case 'entries':
      return { kind: 'entries', found: await toldOf(verifyEntries(source.read(task.range), task.order), onEntries) };
    case 'trees': {
      const found: OrganizationTreeFound[] = [];
      for (const order of task.orders) {
        const { shown: { tree } } = order;
        found.push(await verifyTree(source.leaves(tree), source.checkpoints(tree), order));
      }
      return { kind: 'trees', found };
    }
    case 'platform':
      return {
        kind: 'platform',
        found: await verifyPlatformTree(
          source.platformLeaves(), source.checkpoints(task.order.shown.tree), task.order, source.checkpointTimes(),
        ),
      };
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

async function toldOf(pass: AsyncGenerator<number, EntriesFound, void>, onEntries: (entries: number) => void): Promise<EntriesFound> {
  for (;;) {
    const step = await pass.next();
    if (step.done) return step.value;
    onEntries(step.value);
  }
}

/** The sum of each organization's leaves that no tree has taken yet. */
async function queueOf(
  source: LogSource, { sumKey, organizations, chains }: Extract<Task, { kind: 'queue' }>,
): Promise<Map<string, MultisetDigest>> {
  const hasher = new LeafHasher(sumKey);
  const wanted = chains && new Set(chains);
  const sums = new Map<string, MultisetHash>();
  for await (const leaves of source.queued(organizations)) {
    for (const leaf of leaves) {
      if (wanted && !wanted.has(leaf.chain)) continue;
      let sum = sums.get(leaf.organizationId);
      if (!sum) sums.set(leaf.organizationId, (sum = new MultisetHash()));
      hasher.take(leaf);
      hasher.addTo(sum);
    }
  }
  return new Map([...sums].map(([id, sum]) => [id, sum.summed]));
}

/** Joins what was found in parts of the log. */
export function joinEntries(parts: readonly EntriesFound[]): EntriesFound {
  const organizations = new Map<string, OrganizationFound>();
  for (const part of parts) {
    for (const [id, one] of part.organizations) {
      const known: OrganizationFound =
        organizations.get(id) ?? { sum: EMPTY_MULTISET, breaks: [], breaksFound: 0, blanks: new Map(), leftovers: 0 };
      known.sum = addMultisets(known.sum, one.sum);
      known.breaks.push(...one.breaks);
      known.breaksFound += one.breaksFound;
      known.leftovers += one.leftovers;
      for (const [key, entry] of one.blanks) known.blanks.set(key, entry);
      organizations.set(id, known);
    }
  }
  return {
    chains: parts.reduce((sum, part) => sum + part.chains, 0),
    entries: parts.reduce((sum, part) => sum + part.entries, 0),
    organizations,
    transfers: parts.flatMap((part) => part.transfers),
    notable: parts.flatMap((part) => part.notable),
  };
}
