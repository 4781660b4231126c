import type { EntryRange, LogSource } from './log-source.js';
import { addMultisets, MultisetHash, LeafHasher, EMPTY_MULTISET, type MultisetDigest } from '../completeness/multiset-hash.js';
import { CompactRange } from '../tree/compact-range.js';
import { verifyEntries, type EntriesFound, type EntriesOrder, type OrganizationFound } from './verify-entries.js';
import { verifyMap, type MapFound } from '../tree/verify-map.js';
import { Standing, type Part, type StoodFound, type StoodOrder } from './superseded/verify-parts.js';
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
    }
  | {
      readonly kind: 'newer'; readonly part: Part; readonly order: EntriesOrder;
      /** Chains of which to tell whether they began since. */
      readonly asked: readonly string[];
    }
  | { readonly kind: 'stood'; readonly orders: readonly StoodOrder[] };

export type TaskFound =
  | { readonly kind: 'entries'; readonly found: EntriesFound }
  | { readonly kind: 'newer'; readonly found: EntriesFound; readonly stood: StoodFound }
  | { readonly kind: 'stood'; readonly found: readonly StoodFound[] }
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
    case 'newer': {
      const { part: { organizationId, size, key }, order, asked } = task;
      const standing = new Standing(key, order.seams, asked);
      const streams = source.newer(organizationId, size);
      const found = await toldOf(verifyEntries(streams, order, undefined, standing.follow(streams.stood)), onEntries);
      return { kind: 'newer', found, stood: standing.found(organizationId) };
    }
    case 'stood':
      return { kind: 'stood', found: await stoodOf(source, task.orders) };
    case 'trees': {
      const found: OrganizationTreeFound[] = [];
      for (const order of task.orders) {
        const { shown: { tree }, from } = order;
        const start = from === undefined ? undefined : await startOf(source, tree, from);
        found.push(await verifyTree(source.leaves(tree, start?.size), source.checkpoints(tree, from), order, start));
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

/** Nothing where stored hashes are not what they should be: then more leaves count than newer entries are there. */
function startOf(source: LogSource, tree: string, from: number): Promise<CompactRange> {
  return source.start(tree, from).catch(() => new CompactRange());
}

async function stoodOf(source: LogSource, orders: readonly StoodOrder[]): Promise<StoodFound[]> {
  const found: StoodFound[] = [];
  for (const { organizationId, size, key, seams } of orders) {
    const standing = new Standing(key, seams);
    for await (const _cuts of standing.follow(source.newer(organizationId, size).stood));
    found.push(standing.found(organizationId));
  }
  return found;
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
