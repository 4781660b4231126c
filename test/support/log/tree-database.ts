import type { IndexedLeaf } from '../../../src/domain/audit/entry/stored-entry.js';
import { createHash } from 'node:crypto';
import pg from 'pg';
import { entryLeaf } from '../../../src/domain/audit/tree/tree-leaf.js';
import { hashText, leafHash } from '../../../src/domain/audit/tree/rfc6962.js';
import type { StoredCheckpoint } from '../../../src/domain/audit/notes/checkpoint.js';
import { newestCheckpoint } from '../../../src/modules/audit/checkpoints/checkpoint.query.js';
import { LeafIntegrator, type Leads } from '../../../src/modules/audit/checkpoints/leaf-integrator.js';
import { SignedState } from '../../../src/modules/audit/checkpoints/signed-state.js';
import { leavesOf, readerOf, treeHead } from '../../../src/modules/audit/checkpoints/tree-reader.query.js';
import type { ReadStatement } from '../../../src/platform/audit/record-keepers.js';
import { rangeOf } from '../../../src/domain/audit/tree/tree-proofs.js';
import { rootOf } from '../../../src/domain/audit/tree/compact-range.js';
import { createTestDatabase, type TestDatabase } from '../servers/database.js';
import { naiveRoot } from '../memory/memory-tree.js';

/** The newest checkpoint of every tree that has one. */
export async function newestCheckpoints(run: ReadStatement): Promise<StoredCheckpoint[]> {
  const trees = (await run('select organization_id as tree from audit_trees order by organization_id', [])) as { tree: string }[];
  const found: StoredCheckpoint[] = [];
  for (const { tree } of trees) found.push(...[await newestCheckpoint(run, tree)].filter((one) => one !== undefined));
  return found;
}

/** A lead without a lock, as a process has that does not know yet that it lost it; its connection can be cut. */
export interface LooseLead extends Leads {
  /** Cuts the connection instead of running so many-th statement from now on, `commit` included. */
  cutAt(statement: number): void;
  /** How many statements were run since `cutAt`. */
  readonly statements: number;
  readonly wasCut: boolean;
  end(): Promise<void>;
}

export class TreeCut extends Error {}

export async function looseLead(database: TestDatabase): Promise<LooseLead> {
  const client = new pg.Client({ connectionString: database.url });
  client.on('error', () => undefined);
  await client.connect();
  const state = { statements: 0, cutAt: Number.POSITIVE_INFINITY, wasCut: false };
  const query = async (sql: string, parameters: readonly unknown[] = []) => {
    state.statements++;
    if (state.statements === state.cutAt) {
      state.wasCut = true;
      (client as unknown as { connection: { stream: { destroy: () => void } } }).connection.stream.destroy();
      throw new TreeCut(`cut before: ${sql.trim().slice(0, 60)}`);
    }
    return (await client.query<Record<string, unknown>>(sql, [...parameters])).rows;
  };
  return {
    run: (work) => work(query),
    transact: async (work) => {
      await query('begin');
      try {
        const result = await work(query);
        await query('commit');
        return result;
      } catch (error) {
        if (!state.wasCut) await client.query('rollback');
        throw error;
      }
    },
    cutAt: (statement) => Object.assign(state, { statements: 0, cutAt: statement }),
    get statements() {
      return state.statements;
    },
    get wasCut() {
      return state.wasCut;
    },
    end: () => client.end().catch(() => undefined),
  };
}

export interface Leaf {
  readonly chain: string;
  readonly seq: number;
  readonly hash: string;
}

/** The next leaves of a chain. */
export function leavesFor(chain: string, from: number, count: number): Leaf[] {
  return Array.from({ length: count }, (_, n) => {
    const seq = from + n;
    return { chain, seq, hash: createHash('sha256').update(`${chain} ${seq}`).digest('hex') };
  });
}

/** Puts leaves into the queue, as one commit does. */
export async function enqueue(
  run: (sql: string, parameters: unknown[]) => Promise<unknown>, organizationId: string, leaves: readonly Leaf[],
): Promise<void> {
  await run('insert into audit_tree_queue (organization_id, chains, seqs, hashes) values ($1, $2, $3, $4)', [
    organizationId, leaves.map(({ chain }) => chain), leaves.map(({ seq }) => seq), leaves.map(({ hash }) => hash),
  ]);
}

/** A database without a server, with nothing in its queue. */
export async function quietDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  await database.asSuperuser('delete from audit_tree_queue');
  return database;
}

/** The tree, checked: no place twice, every proof's reader and the stored root agree with the definition. */
export async function treeIn(database: TestDatabase, organizationId: string): Promise<IndexedLeaf[]> {
  const run = (sql: string, parameters: readonly unknown[]) => database.sql(sql, parameters);
  const found: IndexedLeaf[] = [];
  for await (const batch of leavesOf(run, organizationId)) found.push(...batch);
  const head = await treeHead(run, organizationId);
  if (!head) return found;
  if (found.length !== head.size) throw new Error(`${found.length} leaves in a tree of ${head.size}`);
  if (found.some(({ index }, n) => index !== n)) throw new Error('places are not in order');
  const root = hashText(naiveRoot(found.map((leaf) => leafHash(entryLeaf(leaf)))));
  if (root !== head.root) throw new Error(`the root is ${head.root}, and should be ${root}`);
  const read = hashText(rootOf(await rangeOf(readerOf(run, organizationId, head.size), head.size)));
  if (read !== root) throw new Error(`stored tiles give ${read}, and should give ${root}`);
  return found;
}

/** Integrates until the queue is empty, on a connection of its own. @returns how many rounds it took */
export async function drained(database: TestDatabase): Promise<number> {
  const lead = await looseLead(database);
  try {
    const integrator = new LeafIntegrator(lead, SignedState.unproven());
    for (let rounds = 1; ; rounds++) if (!(await integrator.round()).more) return rounds;
  } finally {
    await lead.end();
  }
}
