import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { eventually } from '../../support/running/eventually.js';
import { firstOrganization } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
let agent: BuiltAgent;
let home: string;

beforeAll(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  agent = await anAgent(server).granted('web.search').create();
  for (let i = 0; i < 3; i++) {
    (await agent.client.post('/api/v1/execute', { capability: 'web.search', input: { q: `steel ${i}` } })).expect(200);
  }
  home = await firstOrganization(server);
  await oneOfEach();
});
afterAll(() => server.stop());

/** A tree, and a row of each table of what is signed; the sweep is done, the erasure's entry stands. */
async function oneOfEach(): Promise<void> {
  await eventually(async () => {
    const [signed] = await server.sql<{ all: number }>('select count(distinct organization_id)::integer as all from audit_checkpoints');
    expect(signed!.all).toBeGreaterThan(1);
  });
  const [entry] = await entries();
  await server.sql(`insert into audit_erasure_notes (organization_id, entry_id, note) values ('${home}', '${entry!.id}', 'a note')`);
  await server.sql(`insert into audit_sweeps (organization_id, id, state, before, cuts, checkpoint, made_at)
    values ('${home}', 'swp_done', 'done', now(), '[]', '{"size":1}', now())`);
}

const refusal = { code: 'CS002' };

interface Entry {
  readonly id: string;
  readonly seq: string;
  readonly disclosures: string;
}

const entries = () =>
  server.sql<Entry>('select id, seq, disclosures from audit_entries where chain = $1 order by seq', [agent.id]);

describe('the log cannot be rewritten', () => {
  test.each([
    `update audit_entries set actor_id = 'root'`,
    `update audit_entries set disclosures = '[]'`,
    `delete from audit_entries where false`,
    `truncate audit_entries`,
    `update audit_subjects set pointer = ''`,
    `delete from audit_subjects`,
    `truncate audit_subjects`,
    `delete from audit_heads`,
    `truncate audit_heads`,
    `delete from audit_trees`,
    `truncate audit_trees`,
    `update audit_tree_queue set seqs = '{}'`,
    `truncate audit_tree_queue`,
    ...['audit_tree_leaves', 'audit_tree_tiles', 'audit_platform_leaves'].flatMap((table) =>
      [`update ${table} set tile = 0`, `delete from ${table}`, `truncate ${table}`]),
    // Heads and trees go forward, with what they are the head of.
    'update audit_heads set seq = seq + 1',
    'update audit_heads set seq = seq - 1 where seq > 0',
    `update audit_heads set hash = repeat('a', 64) where seq > 0`,
    `update audit_heads set seq = seq - 1, hash = repeat('a', 64) where seq > 0`,
    `update audit_heads set chain = chain || 'x'`,
    `update audit_heads set organization_id = 'org_another'`,
    'update audit_trees set size = size + 1',
    'update audit_trees set size = size - 1',
    `update audit_trees set root = 'another'`,
    `update audit_trees set tail_hashes = '{}'`,
    `update audit_trees set organization_id = organization_id || 'x', size = size + 1, root = 'another'`,
    // Of what is signed, the rows stay what they are of.
    'update audit_checkpoints set size = size + 100000',
    `update audit_checkpoints set organization_id = organization_id || 'x'`,
    ...['key_id', 'verifier_key', 'note'].map((column) => `update audit_signing_keys set ${column} = 'another'`),
    'update audit_signing_keys set from_size = from_size + 1',
    `update audit_erasure_notes set entry_id = entry_id || 'x'`,
    `update audit_erasure_notes set organization_id = 'org_another'`,
    'delete from audit_erasure_notes',
    ...['organization_id', 'id', 'skeleton', 'disclosures', 'entry_id'].map((column) => `update audit_sweeps set ${column} = 'another'`),
    ...['before', 'made_at'].map((column) => `update audit_sweeps set ${column} = ${column} - interval '1 year'`),
    ...['cuts', 'checkpoint'].map((column) => `update audit_sweeps set ${column} = '{}'`),
    `update audit_sweeps set state = 'verified'`,
    `update audit_sweeps set state = 'recorded'`,
    'delete from audit_sweeps',
    'delete from audit_anchors',
    ...['audit_checkpoints', 'audit_signing_keys', 'audit_erasure_notes', 'audit_sweeps', 'audit_anchors', 'audit_map_nodes']
      .map((table) => `truncate ${table}`),
  ])('%s', async (statement) => {
    await expect(server.sql(statement)).rejects.toMatchObject(refusal);
  });

  test('but what a server replaces of it may be replaced', async () => {
    await server.sql('begin; update audit_checkpoints set note = note; update audit_signing_keys set retired_at_size = 9; ' +
      `update audit_erasure_notes set note = 'another'; update audit_sweeps set notes = '{}'; ` +
      'update audit_anchors set size = size; update audit_heads set revision = revision + 1, closed_at = now(); rollback');
  });

  test('not through one door what is behind the other', async () => {
    const through = (door: string, statement: string) =>
      expect(server.sql(`do $$ begin set local countersign.door = '${door}'; ${statement}; end $$`)).rejects.toMatchObject(refusal);
    await through('erasure', `update audit_entries set disclosures = '[]', actor_id = 'root'`);
    await through('erasure', 'delete from audit_entries');
    await through('sweep', `update audit_entries set disclosures = '[]'`);
    await through('sweep', 'truncate audit_entries');
  });

  test('a function leaves no door open behind it', async () => {
    const [last] = (await entries()).slice(-1);
    await expect(server.sql(`do $$ begin
      perform erase_disclosures_v1('${home}', array['${last!.id}'], array['another'], array['[]']);
      update audit_entries set disclosures = '[]'; end $$`)).rejects.toMatchObject(refusal);
  });
});

describe('erase_disclosures_v1', () => {
  const erased = async (ids: string[], before: string[], after: string[], organization = home): Promise<number> => {
    const rows = await server.sql<{ count: number }>(
      'select erase_disclosures_v1($1, $2, $3, $4) as count', [organization, ids, before, after]);
    return rows[0]!.count;
  };

  test('changes disclosures where they are what was read, and nothing else', async () => {
    const [one, other] = (await entries()).slice(-2);
    const count = await erased([one!.id, other!.id], [one!.disclosures, `${other!.disclosures} `], ['[1]', '[2]']);
    expect(count).toBe(1);
    const now = (await entries()).slice(-2);
    expect(now.map(({ disclosures }) => disclosures)).toEqual(['[1]', other!.disclosures]);
    expect(await erased([one!.id], ['[1]'], [one!.disclosures], 'org_another')).toBe(0);
    expect(await erased([one!.id], ['[1]'], [one!.disclosures])).toBe(1);
  });
});

describe('sweep_entries_v1 and sweep_subjects_v1', () => {
  const swept = async (chains: string[], last: number[], limit: number): Promise<string> => {
    const rows = await server.sql<{ count: string }>('select sweep_entries_v1($1, $2, $3, $4) as count', [home, chains, last, limit]);
    return rows[0]!.count;
  };

  test('take the oldest first, no more than the limit, and no further than the cut', async () => {
    const before = await entries();
    const cut = Number(before.at(-3)!.seq);
    expect(await swept(['agt_nobody', agent.id], [9, cut], 2)).toBe('2');
    expect((await entries()).map(({ seq }) => seq)).toEqual(before.slice(2).map(({ seq }) => seq));
    expect(await swept(['agt_nobody', agent.id], [9, cut], 1_000)).toBe(String(before.length - 4));
    expect((await entries()).map(({ seq }) => seq)).toEqual(before.slice(-2).map(({ seq }) => seq));
    expect(await swept([agent.id], [cut], 1_000)).toBe('0');
    (await agent.client.post('/api/v1/execute', { capability: 'web.search' })).expect(200);
    expect((await entries()).length).toBe(4);
  });

  test('leave who is named by what is still there', async () => {
    const [kept] = (await entries()).slice(-1);
    const pair = (user: string, entry: string) =>
      `('${home}', '${user}', '${entry}', '/actorId', '${agent.id}', 1, 'agent.updated', '2026-11-22T00:00:00.000Z')`;
    await server.sql(`insert into audit_subjects (organization_id, user_id, entry_id, pointer, chain, seq, event, "timestamp")
      values ${pair('usr_a', 'audit_gone1')}, ${pair('usr_a', 'audit_gone2')},
      ${pair('usr_b', kept!.id)}, ${pair('usr_c', 'audit_gone3')}`);
    let [user, entry] = ['', ''];
    for (let looks = 0; looks < 1_000; looks++) {
      const [next] = await server.sql<{ last_user: string; last_entry: string }>(
        'select * from sweep_subjects_v1($1, $2, $3, 2)', [home, user, entry]);
      if (next === undefined) break;
      [user, entry] = [next.last_user, next.last_entry];
    }
    expect(await server.sql(`select user_id, entry_id from audit_subjects where user_id in ('usr_a', 'usr_b', 'usr_c')`))
      .toEqual([{ user_id: 'usr_b', entry_id: kept!.id }]);
    expect((await asRoot(server).get(`/api/v1/audit/${kept!.id}`)).status).toBe(200);
  });
});
