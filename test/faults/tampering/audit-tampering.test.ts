import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Verification } from '../../../src/modules/audit/verification/verification-result.js';
import { verifyDatabase } from '../../../src/modules/audit/verification/verify-database.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { blank } from '../../support/erasure/erased-by-hand.js';
import { eventually } from '../../support/running/eventually.js';
import { withoutLeader } from '../../support/log/leader.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
let agent: BuiltAgent;
let victim: { id: string; seq: string };

beforeAll(async () => {
  server = await startServer();
  agent = await anAgent(server).granted('web.search').create();
  for (let i = 0; i < 4; i++) await agent.client.post('/api/v1/execute',
    { capability: 'web.search', input: { q: `steel ${i}` } });
  // What administrators could edit here: a completed execution in the middle of its chain.
  const [row] = await server.sql<{ id: string; seq: string }>(
    `select id, seq from audit_entries where chain = $1 and event = 'execution.started' order by seq offset 1 limit 1`,
      [agent.id]);
  victim = row!;
});

afterAll(() => server.stop());

/** As the command line reads it: the database alone, past any server. */
const verified = (): Promise<Verification> => 
  verifyDatabase({ databaseUrl: server.database.url, organizations: 'all', threads: 0 });

const KEPT = [
  'audit_entries', 'audit_heads', 'audit_trees', 'audit_tree_leaves', 'audit_platform_leaves', 'audit_map_nodes', 'audit_checkpoints',
  'audit_signing_keys',
];

/** Makes the change, as a superuser past every trigger, looks, and undoes it. */
function tampered(...changes: readonly string[]): Promise<Verification> {
  return tamperedAnd(verified, () => changes);
}

/** @param changes of what stands while nobody leads */
function tamperedAnd(look: () => Promise<Verification>, changes: (before: Verification) => readonly string[]): Promise<Verification> {
  return withoutLeader(server.database, async () => {
    for (const table of KEPT) await server.sql(`create table kept_${table} as select * from ${table}`);
    await server.sql('create table kept_queue as select organization_id, chains, seqs, hashes from audit_tree_queue order by id');
    try {
      await server.database.asSuperuser(...changes(await verified()));
      return await look();
    } finally {
      await server.database.asSuperuser(
        `truncate ${KEPT.join(', ')}, audit_tree_queue`,
        ...KEPT.map((table) => `insert into ${table} select * from kept_${table}`),
        'insert into audit_tree_queue (organization_id, chains, seqs, hashes) select * from kept_queue',
      );
      await server.sql(`drop table kept_queue, ${KEPT.map((table) => `kept_${table}`).join(', ')}`);
    }
  });
}

/** Until everything that was written is under a checkpoint. */
const covered = () => eventually(async () => {
  const { verdict } = await verified();
  if (verdict !== 'valid') throw new Error(`it is ${verdict}`);
});

const where = () => `where id = '${victim.id}'`;

test('untouched, it is as it was written, and soon under a checkpoint', async () => {
  expect(await verified()).toMatchObject({ valid: true, verdict: expect.stringMatching(/^valid/), breaks: [] });
  await covered();
  const outcome = await verified();
  expect(outcome).toMatchObject({ verdict: 'valid', uncovered: 0 });
  expect(outcome).toMatchObject({ checkpoint: { origin: expect.stringMatching(/\/platform$/), size: expect.any(Number) } });
});

describe('any column of an entry', () => {
  test.each([
    ['organization_id', `organization_id || 'x'`],
    ['chain', `'agt_' || repeat('0', 38)`],
    ['seq', 'seq + 1000'],
    ['id', `'audit_' || repeat('0', 38)`],
    ['event', `'execution.completed'`],
    ['agent_id', `'agt_' || repeat('0', 38)`],
    ['agent_id', 'null'],
    ['actor_id', `'root'`],
    ['capability', `'file.read'`],
    ['capability', 'null'],
    ['outcome', `'success'`],
    ['timestamp', `'2020-01-01T00:00:00.000Z'`],
    ['payload', `replace(payload, '"grantVersion":1', '"grantVersion":2')`],
    ['payload', `replace(payload, '"v":1', '"v": 1')`],
    ['disclosures', `replace(disclosures, 'steel', 'stool')`],
    ['disclosures', `'[]'`],
    ['prev_hash', `repeat('0', 64)`],
    ['hash', `repeat('0', 64)`],
  ])('%s = %s', async (column, value) => {
    const outcome = await tampered(`update audit_entries set "${column}" = ${value} ${where()}`);
    expect(outcome).toMatchObject({ valid: false, verdict: 'tampered' });
    const named = outcome.breaks.filter(({ entryId, position, chain }) =>
      entryId === victim.id || (chain === agent.id && position === Number(victim.seq)) || entryId === `audit_${'0'.repeat(38)}`);
    expect(named).not.toEqual([]);
    expect(named[0]!.detail).toEqual(expect.any(String));
  });
});

describe('what is more than an edit', () => {
  test.each([
    ['an entry deleted in the middle', () => `delete from audit_entries ${where()}`, /deleted/],
    ['the tail cut', () => `delete from audit_entries where chain = '${agent.id}' and seq > ${victim.seq}`, /truncated/],
    ['the tail cut, head and all', () =>
      `with gone as (delete from audit_entries where chain = '${agent.id}' and seq > ${victim.seq})
        update audit_heads h set seq = e.seq, hash = e.hash from audit_entries e
        where e.id = '${victim.id}' and h.chain = e.chain and h.organization_id =
          e.organization_id`, /truncated|deleted|tree_mismatch/],
    ['a whole chain removed', () => `with gone as (delete from audit_entries where chain = '${agent.id}')
        delete from audit_heads where chain = '${agent.id}'`, /chain_removed/],
    ['one inserted behind the last', () =>
      `insert into audit_entries select organization_id, chain, seq + 1000, id || 'x', event, agent_id,
        actor_id, capability, outcome, "timestamp", payload, disclosures, repeat('1', 64),
          repeat('2', 64) from audit_entries ${where()}`,
      /inserted|forked|edited|deleted/],
  ])('%s', async (_name, change, kind) => {
    const outcome = await tampered(change());
    expect(outcome.valid).toBe(false);
    expect(outcome.breaks.map((found) => found.kind).join(' ')).toMatch(kind);
    expect(outcome.breaks.some(({ chain }) => chain === agent.id)).toBe(true);
  });

  test('two values swapped between entries', async () => {
    const swap = `update audit_entries e set disclosures = o.disclosures from audit_entries o
      where e.chain = '${agent.id}' and o.chain = e.chain and e.event = 'execution.started' and o.event = e.event and o.id <> e.id
        and e.seq in (select seq from audit_entries where chain = e.chain and event = e.event order by seq limit 2)
        and o.seq in (select seq from audit_entries where chain = e.chain and event = e.event order by seq limit 2)`;
    expect((await tampered(swap)).valid).toBe(false);
  });

  test('a value blanked as if it were erased, with no erasure in the log', async () => {
    const [row] = await server.sql<{ disclosures: string }>(`select disclosures from audit_entries ${where()}`);
    const outcome = await tampered(`update audit_entries set disclosures = '${blank(row!.disclosures)}' ${where()}`);
    expect(outcome.breaks.map(({ kind, entryId }) => [kind, entryId])).toContainEqual(['unauthorised_erasure', victim.id]);
  });
});

describe('trees and checkpoints', () => {
  const rootOfNothing = 'A'.repeat(43) + '=';

  test.each<[string, () => readonly string[], RegExp, string]>([
    ['the end of a chain cut off, its head, the tree and the queue made to fit', () => [
      `delete from audit_entries where chain = '${agent.id}' and seq > ${victim.seq}`,
      `update audit_heads h set seq = e.seq, hash = e.hash from audit_entries e
        where e.id = '${victim.id}' and h.chain = e.chain and h.organization_id = e.organization_id`,
      'delete from audit_tree_queue',
      `update audit_trees t set tail_chains = k.chains, tail_seqs = k.seqs, tail_hashes = k.hashes, size = cardinality(k.chains)
        from (select array_agg(l.chain order by l.at) as chains, array_agg(l.seq order by l.at) as seqs,
            array_agg(l.hash order by l.at) as hashes
          from audit_trees o, unnest(o.tail_chains, o.tail_seqs, o.tail_hashes) with ordinality as l(chain, seq, hash, at)
          where '${agent.id}' = any (o.tail_chains) and not (l.chain = '${agent.id}' and l.seq > ${victim.seq})) k
        where '${agent.id}' = any (t.tail_chains)`,
    ], /truncated|tree_mismatch/, 'org'],
    ['a leaf that was changed in the tree', () => [
      `update audit_trees set tail_hashes[1] = repeat('0', 64) where '${agent.id}' = any (tail_chains)`], /tree_mismatch/, 'org'],
    ['two leaves that changed places', () => [
      `update audit_trees set tail_chains[1:2] = array[tail_chains[2], tail_chains[1]],
         tail_seqs[1:2] = array[tail_seqs[2], tail_seqs[1]],
         tail_hashes[1:2] = array[tail_hashes[2], tail_hashes[1]] where organization_id like 'org\\_%'`], /tree_mismatch/, 'org'],
    ['an organization whose head left the map', () => [
      "delete from audit_map_nodes where organization_id like 'org\\_%'"], /tree_mismatch/, 'platform'],
    ["another hash of an organization's leaf in the map", () => [
      String.raw`update audit_map_nodes set hash = '\x00' where depth = 256 and organization_id like 'org\_%'`], /tree_mismatch/, 'org'],
    ["an organization's leaf at another place in the map", () => [
      `update audit_map_nodes set prefix = set_byte(prefix, 5, 255 - get_byte(prefix, 5))
         where depth = 256 and organization_id like 'org\\_%'`], /tree_mismatch/, 'org'],
    ['another hash of a node in the map', () => [
      'update audit_map_nodes set hash = sha256(hash) where depth = 0'], /tree_mismatch/, 'platform'],
    ['a node less in the map', () => ['delete from audit_map_nodes where depth = 0'], /tree_mismatch/, 'platform'],
    ['a node more in the map', () => [
      `insert into audit_map_nodes (depth, prefix, hash) select 248, substring(prefix for 31), hash
         from audit_map_nodes where depth = 256 limit 1`], /tree_mismatch/, 'platform'],
    ['another head in the map', () => [
      `update audit_map_nodes set root = '${rootOfNothing}' where organization_id is not null`], /tree_mismatch/, 'platform'],
    ['a checkpoint without a signature', () => [
      `update audit_checkpoints set note = split_part(note, E'\\n\\n', 1) || E'\\n\\n'`], /checkpoint_invalid/, 'platform'],
    ['a checkpoint with another signature', () => [
      `update audit_checkpoints set note = replace(note, right(note, 12), 'AAAAAAAAAAA' || right(note, 1))`,
    ], /checkpoint_invalid/, 'platform'],
    ['a checkpoint that is signed by nobody who is known', () => ['delete from audit_signing_keys'], /checkpoint_invalid/, 'platform'],
    ['a checkpoint of a key that was retired before', () => [
      'update audit_signing_keys set retired_at_size = 0'], /checkpoint_invalid/, 'platform'],
    ['the newest checkpoint taken away', () => [
      `delete from audit_checkpoints c
       where size = (select max(size) from audit_checkpoints x where x.organization_id = c.organization_id)`,
    ], /checkpoint_invalid/, 'platform'],
    ['all checkpoints taken away', () => ['delete from audit_checkpoints'], /checkpoint_invalid/, 'platform'],
    ["a leaf of the platform's tree that was changed", () => [
      `update audit_trees set tail_data[1] = replace(tail_data[1], '"map"', '"mop"') where organization_id = 'platform'`,
    ], /tree_mismatch/, 'platform'],
    ['a checkpoint of an organization of which there is nothing else', () => [
      `insert into audit_checkpoints select 'org_ghost', size, root, note, platform_size, made_at from audit_checkpoints
       where organization_id = 'platform' order by size desc limit 1`], /checkpoint_invalid.*truncated/, 'org_ghost'],
    ['a tree of an organization of which there is nothing else', () => [
      `insert into audit_trees select t.* from (select (jsonb_populate_record(t, '{"organization_id":"org_ghost"}')).* from audit_trees t
       where organization_id like 'org\\_%' limit 1) t`], /truncated|chain_removed|deleted|tree_mismatch/, ''],
    ['a head in the map of an organization of which there is nothing else', () => [
      `insert into audit_map_nodes (depth, prefix, hash, organization_id, size, root)
         select 256, sha256('org_ghost'), hash, 'org_ghost', size, root from audit_map_nodes where organization_id is not null limit 1`,
    ], /chain_removed/, 'org_ghost'],
    ['a whole tree taken away', () => ["delete from audit_trees where organization_id like 'org\\_%'"], /chain_removed|inserted/, 'org'],
  ])('%s', async (_name, changes, kind, where_) => {
    const outcome = await tampered(...changes());
    expect(outcome.verdict).toBe('tampered');
    const named = outcome.breaks.filter(({ chain }) => chain.startsWith(where_) || (where_ === 'org' && chain === agent.id));
    expect(named.map((found) => found.kind).join(' ')).toMatch(kind);
  });

  test('what an anchor has seen is held against the database, by size and by root', async () => {
    await covered();
    const { checkpoint } = await verified();
    const { size, root, note } = checkpoint!;
    const against = (anchor: { size: number; root: string; note: string }) => verifyDatabase({
      databaseUrl: server.database.url, organizations: 'all', threads: 0,
      anchors: () => Promise.resolve({ shown: [{ name: 'file:x', ...anchor }], notCompared: [] }),
    });
    expect((await against({ size, root, note })).breaks).toEqual([]);
    let seen = { size, root, note };
    const older = await tamperedAnd(() => against(seen), ({ checkpoint: newest }) => {
      seen = newest!;
      return [
        `delete from audit_checkpoints where organization_id = 'platform' and size = ${newest!.size}`,
        `update audit_trees set size = size - 1, tail_data = tail_data[1:cardinality(tail_data) - 1] where organization_id = 'platform'`,
      ];
    });
    expect(older.breaks.map(({ chain, kind }) => [chain, kind])).toContainEqual(['platform', 'truncated']);
  });
});

// The last one: it writes more than a tile of leaves.
test('while entries come, it never alarms', async () => {
  let writing = true;
  const writer = (async () => {
    while (writing) await agent.client.post('/api/v1/execute', { capability: 'web.search', input: { q: 'more steel' } });
  })();
  try {
    for (let i = 0; i < 12; i++) expect(await verified()).toMatchObject({ valid: true, breaks: [] });
    const part = { databaseUrl: server.database.url, organizations: 'all', agentId: agent.id, threads: 0 } as const;
    expect((await verifyDatabase(part)).breaks).toEqual([]);
  } finally {
    writing = false;
    await writer;
  }
});
