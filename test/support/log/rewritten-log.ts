import pg from 'pg';
import { PLATFORM_TREE } from '../../../src/domain/audit/notes/checkpoint.js';
import { signingKey, verifierKey } from '../../../src/domain/audit/notes/note.js';
import type { StoredEntry } from '../../../src/domain/audit/entry/stored-entry.js';
import type { JsonObject } from '../../../src/domain/json.js';
import { ENTRY_COLUMNS, numbered, type EntryRow } from '../../../src/modules/audit/query/entry-rows.js';
import { makeCheckpoints } from '../../../src/modules/audit/checkpoints/sign-checkpoints.js';
import { SignedState } from '../../../src/modules/audit/checkpoints/signed-state.js';
import type { TestDatabase } from '../servers/database.js';
import { resealed, withPayload } from '../tampering/altered-entry.js';
import { regrown, type ForgedLeaf } from '../tampering/forging.js';

/**
 * What somebody does who owns the database and not the signing key: in one chain another actor stands behind its first entry, every hash
 * from there on is made anew, the organization's tree is grown anew to fit, and what was signed of it before is thrown away.
 */
export async function rewriteHistory(database: TestDatabase, chain: string, actorId: string): Promise<void> {
  await asOwner(database, async (run) => {
    const entries = ((await run(`select ${ENTRY_COLUMNS} from audit_entries e where e.chain = $1 order by e.seq`, [chain])) as unknown as
      EntryRow[]).map((row) => numbered(row) as StoredEntry);
    const [first, ...rest] = entries;
    const changed = withPayload(first!, { ...(JSON.parse(first!.payload) as JsonObject), actorId });
    const forged = resealed([changed, ...rest]);
    for (const { id, payload, prevHash, hash } of forged) {
      await run('update audit_entries set payload = $2, prev_hash = $3, hash = $4 where id = $1', [id, payload, prevHash, hash]);
    }
    await run('update audit_entries set actor_id = $2 where id = $1', [first!.id, actorId]);
    await run('update audit_heads set hash = $2 where chain = $1', [chain, forged.at(-1)!.hash]);
    await regrow(run, first!.organizationId, new Map(forged.map((one) => [one.seq, one.hash])), chain);
    await run('delete from audit_checkpoints where organization_id = $1', [first!.organizationId]);
  });
}

/** Another head of an organization in the map, every node above it to fit; the platform's tree is left as it is. */
export async function rewriteMap(database: TestDatabase, organizationId: string, head: { size: number; root: string }): Promise<void> {
  const { mapSourceOf } = await import('../../../src/modules/audit/checkpoints/map.query.js');
  const { updateMap } = await import('../../../src/domain/audit/tree/stored-map-nodes.js');
  const { writeMapNodes } = await import('../../../src/modules/audit/checkpoints/checkpoint.store.js');
  await asOwner(database, async (run) => {
    const source = mapSourceOf((sql, parameters) => run(sql, parameters));
    await writeMapNodes(run, (await updateMap(source, [{ organization: organizationId, ...head }])).nodes);
  });
}

type Run = (sql: string, parameters?: readonly unknown[]) => Promise<Record<string, unknown>[]>;

async function regrow(run: Run, organizationId: string, hashes: ReadonlyMap<number, string>, chain: string): Promise<void> {
  const leaves = await run(
    `select leaf.chain, leaf.seq::integer as seq, leaf.hash from audit_trees t
     cross join lateral unnest(t.tail_chains, t.tail_seqs, t.tail_hashes) with ordinality as leaf(chain, seq, hash, n)
     where t.organization_id = $1 and t.size = cardinality(t.tail_seqs) order by leaf.n`, [organizationId]);
  if (leaves.length === 0) throw new Error(`the tree of ${organizationId} is not one tile's tail: this rewrites none other`);
  await regrown({ run, organizationId }, leaves.map((leaf) => ({
    chain: String(leaf['chain']), seq: Number(leaf['seq']),
    hash: (leaf['chain'] === chain ? hashes.get(Number(leaf['seq'])) : undefined) ?? String(leaf['hash']),
  } satisfies ForgedLeaf)));
}

async function asOwner(database: TestDatabase, work: (run: Run) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: database.superuserUrl });
  await client.connect();
  try {
    await client.query('begin');
    await client.query('set local session_replication_role = replica');
    await work(async (sql, parameters = []) => (await client.query<Record<string, unknown>>(sql, [...parameters])).rows);
    await client.query('commit');
  } finally {
    await client.end();
  }
}

/** Says in the database that this key signs from here on, as a rotation would, and has it sign all that stands there. */
export async function signWith(database: TestDatabase, seed: string): Promise<void> {
  await asOwner(database, async (run) => {
    const [{ name }] = (await run('select name from instance')) as [{ name: string }];
    const [{ size }] = (await run(`select size from audit_trees where organization_id = '${PLATFORM_TREE}'`)) as [{ size: string }];
    const text = verifierKey(name, seed);
    await run('update audit_signing_keys set retired_at_size = $1', [size]);
    await run('insert into audit_signing_keys (key_id, verifier_key, from_size) values ($1, $2, $3)', [text.split('+')[1], text, size]);
    await run('delete from audit_map_nodes');
    const keys = [signingKey(name, seed)] as const;
    await makeCheckpoints(run, { instance: name, keys, trees: SignedState.unproven(), organizations: null, forAll: true });
  });
}
