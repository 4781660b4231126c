import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { openCheckpoint, originOf, PLATFORM_TREE } from '../../../src/domain/audit/notes/checkpoint.js';
import { readVerifierKey, signingKey } from '../../../src/domain/audit/notes/note.js';
import { mapRootOver } from '../../support/memory/map-root-over.js';
import { keyedLeaf } from '../../../src/domain/audit/tree/organization-map.js';
import { checkConsistency } from '../../../src/domain/audit/tree/tree-proofs.js';
import { hashText, readHash } from '../../../src/domain/audit/tree/rfc6962.js';
import { checkpointsOf } from '../../../src/modules/audit/checkpoints/checkpoint.query.js';
import { makeCheckpoints } from '../../../src/modules/audit/checkpoints/sign-checkpoints.js';
import { LeafIntegrator } from '../../../src/modules/audit/checkpoints/leaf-integrator.js';
import { SignedState } from '../../../src/modules/audit/checkpoints/signed-state.js';
import { consistencyOf, mapLine } from '../../../src/modules/audit/proofs/proof.query.js';
import { platformRunsOf } from '../../../src/modules/audit/checkpoints/tree-reader.query.js';
import { TreeMoved } from '../../../src/modules/audit/checkpoints/tree.store.js';
import type { TestDatabase } from '../../support/servers/database.js';
import {
  drained, enqueue, leavesFor, looseLead, newestCheckpoints, quietDatabase, treeIn, type Leaf, type LooseLead,
} from '../../support/log/tree-database.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await quietDatabase();
});
afterAll(() => database.drop());

const run = (sql: string, parameters: readonly unknown[]) => database.sql(sql, parameters);
const positions = (leaves: readonly Leaf[]) => leaves.map(({ chain, seq, hash }) => ({ chain, seq, hash }));

async function eachStep(work: (lead: LooseLead) => Promise<unknown>, check: (isLast: boolean) => Promise<void>): Promise<number> {
  for (let step = 1; ; step++) {
    const lead = await looseLead(database);
    lead.cutAt(step);
    try {
      await work(lead).catch((error: unknown) => {
        if (!lead.wasCut) throw error;
      });
    } finally {
      await lead.end();
    }
    await check(!lead.wasCut);
    if (!lead.wasCut) return step;
  }
}

describe('the leader dies', () => {
  test('at each statement of a round: nothing is lost, and nothing is there twice', async () => {
    // More than a tile at a time, so that every kind of statement is among them.
    const written: Leaf[] = [];
    const write = async () => {
      const more = leavesFor('agt_steps', written.length + 1, 300);
      written.push(...more);
      for (let at = 0; at < more.length; at += 50) await enqueue(run as never, 'org_steps', more.slice(at, at + 50));
    };
    const steps = await eachStep(
      async (lead) => {
        await write();
        await new LeafIntegrator(lead, SignedState.unproven()).round();
      },
      async () => {
        const inTree = await treeIn(database, 'org_steps');
        const queued = await database.sql<{ seqs: string[] }>(
          `select seqs from audit_tree_queue where organization_id = 'org_steps' order by id`);
        const all = [...inTree.map(({ seq }) => seq), ...queued.flatMap(({ seqs }) => seqs.map(Number))];
        expect(all).toEqual(written.map(({ seq }) => seq));
      },
    );
    expect(steps).toBeGreaterThan(8);
    await drained(database);
    expect(positions(await treeIn(database, 'org_steps'))).toEqual(written);
  });

  test('at each statement of signing: trees, map and checkpoints fit each other, and every checkpoint continues those before', async () => {
    const key = signingKey('countersign-000000000001', Buffer.alloc(32, 9).toString('base64'));
    const known = [...await keysOf(key.name)];
    let seq = 0;
    const steps = await eachStep(
      async (lead) => {
        for (const name of ['org_a', 'org_b', 'org_c']) await enqueue(run as never, name, leavesFor(`sys_${name}`, seq + 1, 1));
        seq++;
        await drained(database);
        await lead.transact((statements) => makeCheckpoints(statements, {
          instance: key.name, keys: [key], trees: SignedState.unproven(), organizations: null, limit: 100,
        }));
      },
      async (isLast) => {
        const platform = await checkpointsOf(run, PLATFORM_TREE, { limit: 1_000 });
        const leaves: string[] = [];
        for await (const { texts } of platformRunsOf(run)) leaves.push(...texts);
        expect(leaves).toHaveLength(platform.length);
        expect(platform.map(({ size }) => size)).toEqual(platform.map((_, n) => n + 1));
        if (isLast) expect(platform.length).toBeGreaterThan(0);
      },
    );
    expect(steps).toBeGreaterThan(10);
    const platform = await checkpointsOf(run, PLATFORM_TREE, { limit: 1_000 });
    const last = platform.at(-1)!;
    for (const { size, root, note } of platform) {
      expect(openCheckpoint(note, known, originOf(key.name, PLATFORM_TREE))).toMatchObject({ checkpoint: { size, root } });
      const proof = (await consistencyOf(run, PLATFORM_TREE, size, last.size)).map((hash) => readHash(hash)!);
      expect(checkConsistency(size, last.size, readHash(root)!, readHash(last.root)!, proof)).toBe(true);
    }
    await everyHeadIsInTheMap();
  });
});

async function keysOf(name: string) {
  const { verifierKey } = await import('../../../src/domain/audit/notes/note.js');
  return [readVerifierKey(verifierKey(name, Buffer.alloc(32, 9).toString('base64')))!];
}

/** The newest checkpoint of every organization is proven by the map under the platform's newest one. */
async function everyHeadIsInTheMap(): Promise<number> {
  const leaves: { map: string }[] = [];
  for await (const { texts } of platformRunsOf(run)) leaves.push(...texts.map((text) => JSON.parse(text) as { map: string }));
  const newest = (await newestCheckpoints(run)).filter(({ organizationId }) => organizationId !== PLATFORM_TREE);
  for (const { organizationId, size, root } of newest) {
    const line = (await mapLine(run, organizationId))!;
    expect([line.size, line.root]).toEqual([size, root]);
    const siblings = line.siblings.map(([depth, hash]) => [depth, readHash(hash)!] as const);
    expect(hashText(mapRootOver(keyedLeaf({ organization: organizationId, size, root }), siblings))).toBe(leaves.at(-1)!.map);
  }
  return newest.length;
}

test('one that believes that it leads changes nothing once another has grown the tree', async () => {
  const [one, other] = [await looseLead(database), await looseLead(database)];
  try {
    const [first, second] = [new LeafIntegrator(one, SignedState.unproven()), new LeafIntegrator(other, SignedState.unproven())];
    await enqueue(run as never, 'org_two', leavesFor('agt_two', 1, 3));
    await first.round();
    await enqueue(run as never, 'org_two', leavesFor('agt_two', 4, 3));
    await second.round();
    await enqueue(run as never, 'org_two', leavesFor('agt_two', 7, 3));
    await expect(first.round()).rejects.toThrow(TreeMoved);
    expect(await treeIn(database, 'org_two')).toHaveLength(6);
    // Now it knows.
    await first.round();
    expect(positions(await treeIn(database, 'org_two'))).toEqual(leavesFor('agt_two', 1, 9));
  } finally {
    await Promise.all([one.end(), other.end()]);
  }
});

test('two at once: one of them wins, and the tree has every leaf once', async () => {
  const leads = [await looseLead(database), await looseLead(database)];
  try {
    const integrators = leads.map((lead) => new LeafIntegrator(lead, SignedState.unproven()));
    for (let round = 0; round < 20; round++) {
      await enqueue(run as never, 'org_race', leavesFor('agt_race', round * 40 + 1, 40));
      await Promise.allSettled(integrators.map((one) => one.round()));
    }
    await drained(database);
    expect(positions(await treeIn(database, 'org_race'))).toEqual(leavesFor('agt_race', 1, 800));
  } finally {
    await Promise.all(leads.map((lead) => lead.end()));
  }
});

test('what commits late comes later, and is not lost with those that were taken before it', async () => {
  const late = new pg.Client({ connectionString: database.url });
  await late.connect();
  try {
    await late.query('begin');
    await enqueue((sql, parameters) => late.query(sql, parameters), 'org_late', leavesFor('agt_slow', 1, 2));
    await enqueue(run as never, 'org_late', leavesFor('agt_quick', 1, 2));
    await drained(database);
    expect((await treeIn(database, 'org_late')).map(({ chain }) => chain)).toEqual(['agt_quick', 'agt_quick']);
    await late.query('commit');
    await drained(database);
    expect(positions(await treeIn(database, 'org_late'))).toEqual([...leavesFor('agt_quick', 1, 2), ...leavesFor('agt_slow', 1, 2)]);
  } finally {
    await late.end();
  }
});

test('a backlog is worked off in rounds that are bounded, and organizations take turns', async () => {
  await database.sql(`
    insert into audit_tree_queue (organization_id, chains, seqs, hashes)
    select 'org_big', array_agg('agt_big'::text order by s), array_agg(s::bigint order by s),
      array_agg(encode(sha256(convert_to(s::text, 'UTF8')), 'hex') order by s)
    from generate_series(1, 70000) s group by (s - 1) / 50 order by (s - 1) / 50`);
  await enqueue(run as never, 'org_zz', leavesFor('agt_zz', 1, 1));
  const lead = await looseLead(database);
  try {
    const integrator = new LeafIntegrator(lead, SignedState.unproven());
    const rounds = [await integrator.round(), await integrator.round()];
    expect(rounds.map(({ leaves }) => leaves)).toEqual([8_200, expect.any(Number)]);
    expect(rounds[1]!.organizations).toContain('org_zz');
  } finally {
    await lead.end();
  }
  expect(await drained(database)).toBeGreaterThan(5);
  const tree = await treeIn(database, 'org_big');
  expect(tree.map(({ seq }) => seq)).toEqual(Array.from({ length: 70_000 }, (_, n) => n + 1));
  const tiles = await database.sql(`select level, tile from audit_tree_tiles where organization_id = 'org_big'`);
  expect(tiles).toEqual([{ level: 1, tile: '0' }]);
});

test('hundreds of organizations at once: each in the map, each signed, a few hundred a round', async () => {
  await database.sql(`
    insert into audit_tree_queue (organization_id, chains, seqs, hashes)
    select 'org_many' || n, array['sys_org_many' || n], array[1::bigint], array[encode(sha256(convert_to(n::text, 'UTF8')), 'hex')]
    from generate_series(1, 400) n`);
  await drained(database);
  const key = signingKey('countersign-000000000001', Buffer.alloc(32, 9).toString('base64'));
  const lead = await looseLead(database);
  try {
    for (let signed = 150; signed === 150; ) {
      const made = await lead.transact((statements) => makeCheckpoints(statements, {
        instance: key.name, keys: [key], trees: SignedState.unproven(), organizations: null, limit: 150,
      }));
      signed = made.organizations.length;
    }
  } finally {
    await lead.end();
  }
  expect(await everyHeadIsInTheMap()).toBeGreaterThan(400);
});
