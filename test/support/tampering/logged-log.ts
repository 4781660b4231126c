import type pg from 'pg';
import type { ShownAnchor } from '../../../src/domain/audit/integrity/log-source.js';
import { PLATFORM_TREE, type StoredCheckpoint } from '../../../src/domain/audit/notes/checkpoint.js';
import type { StoredEntry } from '../../../src/domain/audit/entry/stored-entry.js';
import { sqlLogSource } from '../../../src/modules/audit/verification/source/log-source.query.js';
import { checkpointsOf, instanceName, verifierKeys } from '../../../src/modules/audit/checkpoints/checkpoint.query.js';
import { leavesOf } from '../../../src/modules/audit/checkpoints/tree-reader.query.js';

export interface LoggedLeaf {
  readonly index: number;
  readonly chain: string;
  readonly seq: number;
  readonly hash: string;
}

/** What a log holds before anybody tampers with it. */
export interface LoggedLog {
  readonly instance: string;
  /** Base64 of the seed with which this installation signs now, and the keys that sign or have signed. */
  readonly seed: string;
  readonly retiredSeed: string | undefined;
  readonly verifierKeys: readonly string[];
  readonly organizations: readonly string[];
  /** Whose story was told through the API, by rows, too. */
  readonly storied: string;
  entriesOf(organizationId: string): readonly StoredEntry[];
  /** Of each chain what stands, in order. */
  chainsOf(organizationId: string): ReadonlyMap<string, readonly StoredEntry[]>;
  readonly leaves: ReadonlyMap<string, readonly LoggedLeaf[]>;
  /** Checkpoints by tree, rising. */
  readonly checkpoints: ReadonlyMap<string, readonly StoredCheckpoint[]>;
  /** What an honest anchor has. */
  readonly anchors: readonly ShownAnchor[];
  /** Chains that were cut, as `organization chain`. */
  readonly cut: ReadonlyMap<string, number>;
}

export interface Known {
  readonly seed: string;
  readonly retiredSeed?: string | undefined;
  readonly storied: string;
}

/** Reads all of it: it is small enough to be kept. */
export async function loggedLog(client: pg.Client, { seed, retiredSeed, storied }: Known): Promise<LoggedLog> {
  const run = async (sql: string, parameters: readonly unknown[]) => (await client.query<object>(sql, [...parameters])).rows;
  await client.query('begin transaction isolation level repeatable read, read only');
  try {
    const header = await sqlLogSource(run, 'all').header();
    const entries = new Map<string, Map<string, StoredEntry[]>>();
    for await (const batch of sqlLogSource(run, 'all').read({}).entries) {
      for (const entry of batch) {
        const chains = entries.get(entry.organizationId) ?? new Map<string, StoredEntry[]>();
        entries.set(entry.organizationId, chains);
        const known = chains.get(entry.chain);
        if (known) known.push(entry);
        else chains.set(entry.chain, [entry]);
      }
    }
    const leaves = new Map<string, LoggedLeaf[]>();
    const checkpoints = new Map<string, StoredCheckpoint[]>();
    for (const id of header.organizations) {
      const found: LoggedLeaf[] = [];
      for await (const batch of leavesOf(run, id)) found.push(...batch);
      leaves.set(id, found);
      checkpoints.set(id, await checkpointsOf(run, id, { limit: 10_000 }));
    }
    checkpoints.set(PLATFORM_TREE, await checkpointsOf(run, PLATFORM_TREE, { limit: 10_000 }));
    const { size, root, note } = checkpoints.get(PLATFORM_TREE)!.at(-1)!;
    const flat = new Map([...entries].map(([id, chains]) => [id, [...chains.values()].flat()]));
    return {
      instance: await instanceName(run),
      seed, retiredSeed, storied,
      verifierKeys: (await verifierKeys(run)).map(({ key }) => key),
      organizations: header.organizations.filter((id) => (flat.get(id)?.length ?? 0) > 0),
      entriesOf: (id) => flat.get(id) ?? [],
      chainsOf: (id) => entries.get(id) ?? new Map<string, StoredEntry[]>(),
      leaves, checkpoints,
      anchors: [{ name: 'file:honest', size, root, note }],
      cut: new Map(header.cutPoints.map((cutPoint) => [`${cutPoint.organizationId} ${cutPoint.chain}`, cutPoint.seq])),
    };
  } finally {
    await client.query('commit');
  }
}
