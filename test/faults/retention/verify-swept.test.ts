import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { entryHash, preimage } from '../../../src/domain/audit/entry/entry-hash.js';
import { asRoot } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { countersign } from '../../support/servers/command-line.js';
import { verification } from '../../support/erasure/erasures.js';
import { eventually } from '../../support/running/eventually.js';
import { download, verifyBytes } from '../../support/log/exports.js';
import { withoutLeader } from '../../support/log/leader.js';
import { anOrganization } from '../../support/builders/people.js';
import { aged, archiveFolder, swept } from '../../support/retention/retention.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { ROOT_KEY } from '../../support/servers/test-run.js';
import { transferred, welcomed } from '../../support/builders/transfers.js';
import { verifiedLog } from '../../support/log/verified-log.js';

let server: TestServer;
let archive: string;
let agent: BuiltAgent;
let other: BuiltAgent;

beforeAll(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  archive = await archiveFolder();
  [agent, other] = [await anAgent(server).granted('web.search').create(), await anAgent(server).granted('web.search').create()];
});
afterAll(() => server.stop());

async function works({ client }: Pick<BuiltAgent, 'client'>, times = 2): Promise<void> {
  for (let i = 0; i < times; i++) {
    (await client.post('/api/v1/execute', { capability: 'web.search', input: { q: `steel ${i}` } })).expect(200);
  }
}

async function sweep(atOnce?: number): Promise<void> {
  await aged(server.database);
  await swept(server.database, archive, atOnce);
}

const exported = async () => verifyBytes((await download(server, ROOT_KEY, '/api/v1/audit/export')).bytes);

/** To the server, and to the verifier that knows nothing of this service. */
async function allSound(): Promise<void> {
  expect(await verification(server)).toMatchObject({ valid: true, breaks: [] });
  expect(await exported()).toMatchObject({ verdict: expect.stringMatching(/^valid/), breaks: [] });
}

const firstOf = async (chain: string) => {
  const [row] = await server.sql<{ seq: number }>('select min(seq)::integer as seq from audit_entries where chain = $1', [chain]);
  return row!.seq;
};

describe('no false alarm', () => {
  test('the whole of a chain is swept, then it goes on; and its end alone is verified', async () => {
    await works(agent);
    await sweep();
    expect(await firstOf(agent.id)).toBeNull();
    await allSound();
    await works(agent, 1);
    expect(await firstOf(agent.id)).toBeGreaterThan(4);
    await allSound();
    expect(await verifiedLog(server.database.url, agent.id)).toMatchObject({ valid: true, breaks: [] });
    const { code, stdout } = await countersign(['audit', 'verify', '--no-remember', '--json', '--database-url', server.database.url]);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { valid: true, breaks: [] }]);
  });

  test('a second sweep, in small pieces, which takes the first one\'s entry with it; and a third', async () => {
    const [before] = await server.sql<{ id: string }>(
      `select max(id) as id from audit_entries where event = 'admin.audit_retention_sweep'`);
    for (let i = 0; i < 2; i++) {
      await works(other, 3);
      await sweep(5);
      await allSound();
    }
    expect(await server.sql('select id from audit_entries where id = $1', [before!.id])).toEqual([]);
  });

  test('an agent that has left: swept out of one organization, alive in the other; and back again', async () => {
    const moved = await anAgent(server).granted('web.search').create();
    const [{ home }] = (await server.sql<{ home: string }>(
      'select organization_id as home from audit_heads where chain = $1', [moved.id])) as [{ home: string }];
    await works(moved);
    await aged(server.database);
    const elsewhere = await anOrganization(server);
    (await transferred(server, moved, elsewhere)).expect(200);
    const there = await welcomed(server, moved);
    await works({ client: there });
    await swept(server.database, archive);
    await allSound();
    await sweep();
    await works({ client: there }, 1);
    await allSound();
    (await transferred(server, moved, home)).expect(200);
    await works({ client: await welcomed(server, moved) }, 1);
    await allSound();
    await sweep();
    await allSound();
  });
});

const KEPT = ['audit_entries', 'audit_heads', 'audit_subjects', 'audit_sweeps'];

/** Makes the changes as a superuser past every trigger, has the log looked at from both sides, and undoes them. */
function tampered(changes: readonly string[]) {
  return withoutLeader(server.database, async () => {
    for (const table of KEPT) await server.sql(`create table kept_${table} as select * from ${table}`);
    await server.sql('create table kept_queue as select organization_id, chains, seqs, hashes from audit_tree_queue order by id');
    try {
      await server.database.asSuperuser(...changes);
      const log = await verifiedLog(server.database.url);
      return { log: log.breaks.map(({ kind }) => kind), file: (await exported()).breaks.map(({ kind }) => kind) };
    } finally {
      await server.database.asSuperuser(
        `truncate ${KEPT.join(', ')}, audit_tree_queue`,
        ...KEPT.map((table) => `insert into ${table} select * from kept_${table}`),
        // Whoever takes an export is told of in the log.
        'insert into audit_tree_queue (organization_id, chains, seqs, hashes) select * from kept_queue',
      );
      await server.sql(`drop table kept_queue, ${KEPT.map((table) => `kept_${table}`).join(', ')}`);
    }
  });
}

describe('what is done around a cut point is found', () => {
  interface Cut {
    readonly chain: string; readonly seq: number; readonly hash: string; readonly count: number; readonly sweepEntryId: string;
  }
  interface Row { readonly id: string; readonly cuts: readonly Cut[]; readonly checkpoint: { readonly size: number } }
  interface Survivor {
    readonly id: string; readonly seq: number; readonly hash: string; readonly payload: string; readonly prev_hash: string;
    readonly capability: string | null;
  }
  let untouched: BuiltAgent;
  let row: Row;
  let cut: Cut;
  let survivors: Survivor[];

  beforeAll(async () => {
    await works(agent, 2);
    await server.sql('create table swept_entries as select * from audit_entries');
    await server.sql('create table swept_subjects as select * from audit_subjects');
    await sweep();
    untouched = await anAgent(server).granted('web.search').create();
    await works(agent, 3);
    await works(untouched, 2);
    await eventually(async () => expect(await verifiedLog(server.database.url)).toMatchObject({ verdict: 'valid' }));
    const rows = await server.sql<Row & Record<string, unknown>>('select id, cuts, checkpoint from audit_sweeps order by made_at');
    row = rows.findLast(({ cuts }) => cuts.some(({ chain }) => chain === agent.id))!;
    cut = row.cuts.find(({ chain }) => chain === agent.id)!;
    survivors = await server.sql<Survivor & Record<string, unknown>>(
      `select id, seq::integer, hash, payload, prev_hash, capability from audit_entries where chain = $1 order by seq`, [agent.id]);
    expect(survivors[0]).toMatchObject({ seq: cut.seq + 1, prev_hash: cut.hash });
  });

  const cutsOf = (cuts: readonly Cut[]) => `update audit_sweeps set cuts = '${JSON.stringify(cuts)}' where id = '${row.id}'`;
  const instead = (change: Partial<Cut>) => row.cuts.map((one) => (one === cut ? { ...cut, ...change } : one));
  const gone = (chain: string, upTo: number) => `delete from audit_entries where chain = '${chain}' and seq <= ${upTo}`;

  test('nothing', async () => {
    expect(await tampered(['select'])).toEqual({ log: [], file: [] });
    await allSound();
  });

  test('the first survivor deleted, and the cut point moved behind it', async () => {
    const [{ seq, hash }] = survivors as [Survivor];
    const { log, file } = await tampered([gone(agent.id, seq), cutsOf(instead({ seq, hash, count: cut.count + 1 }))]);
    expect([log, file]).toEqual([expect.arrayContaining(['deleted']), expect.arrayContaining(['deleted'])]);
  });

  test('the first survivor replaced by another that continues the cut point, and all behind it with it', async () => {
    const changes: string[] = [];
    let last = cut.hash;
    for (const { id, payload, capability } of survivors) {
      const forged = changes.length === 0 ? payload.replace(/"timestamp":"20/, '"timestamp":"19') : payload;
      const hash = entryHash(preimage({ agentId: agent.id, capability: capability ?? undefined, payload: forged, prevHash: last }));
      const time = changes.length === 0 ? `, "timestamp" = overlay("timestamp" placing '19' from 1)` : '';
      changes.push(`update audit_entries set payload = $p$${forged}$p$, hash = '${hash}', prev_hash = '${last}'${time} where id = '${id}'`);
      last = hash;
    }
    changes.push(`update audit_heads set hash = '${last}' where chain = '${agent.id}' and closed_at is null`);
    const { log, file } = await tampered(changes);
    expect([log, file]).toEqual([expect.arrayContaining(['tree_mismatch']), expect.arrayContaining(['tree_mismatch'])]);
  });

  describe('said not to be done', () => {
    const unfinished = `update audit_sweeps set state = 'recorded' where id = (select id from audit_sweeps s where s.organization_id =
      (select organization_id from audit_heads where chain = '${'$chain'}') order by made_at desc limit 1)`;
    /** As a sweep that has come so far leaves it: entries of which those from the first on are still there. */
    const left = (condition: string) => [
      unfinished.replace('$chain', agent.id),
      `insert into audit_entries select * from swept_entries where chain = '${agent.id}' and ${condition}`,
      `insert into audit_subjects select * from swept_subjects where chain = '${agent.id}'`,
    ];
    const first = async () => {
      const [row] = await server.sql<{ seq: number }>('select min(seq)::integer as seq from swept_entries where chain = $1', [agent.id]);
      return row!.seq;
    };

    test('what it may have left is nothing wrong, wherever it died', async () => {
      for (let seq = (await first()) - 1; seq <= cut.seq; seq++) {
        expect(await tampered(left(`seq > ${seq}`))).toEqual({ log: [], file: [] });
      }
    });

    test('anything else is: part of it, another in its place, and what was made up; a file shows none of it', async () => {
      const from = await first();
      const [, ...own] = left(`seq >= ${from}`);
      expect(await tampered(own)).toMatchObject({ log: expect.arrayContaining(['inserted']), file: [] });
      expect(await tampered(left(`seq < ${cut.seq}`))).toEqual({ log: ['inserted'], file: [] });
      expect(await tampered(left(`seq <> ${cut.seq - 1}`))).toEqual({ log: ['deleted'], file: [] });
      const moved = `update audit_entries set timestamp = overlay(timestamp placing '19' from 1)
        where chain = '${agent.id}' and seq = ${cut.seq}`;
      expect(await tampered([...left(`seq >= ${from}`), moved])).toEqual({ log: ['column_mismatch'], file: [] });
      const forged = `insert into audit_entries
          (organization_id, chain, seq, id, event, agent_id, actor_id, "timestamp", payload, disclosures, prev_hash, hash)
        select organization_id, chain, 2, 'audit_0', event, agent_id, actor_id, "timestamp", payload, disclosures, 'nonsense', 'by SQL'
        from audit_entries where chain = '${agent.id}' order by seq limit 1`;
      expect(await tampered([left('false')[0]!, forged])).toMatchObject({ log: expect.arrayContaining(['edited']), file: [] });
      expect(await tampered([forged])).toMatchObject({ log: expect.arrayContaining(['inserted']), file: [] });
    });
  });

  test('a chain that no sweep has cut, cut and listed', async () => {
    const [{ seq, hash }] = (await server.sql<{ seq: number; hash: string }>(
      'select seq::integer, hash from audit_entries where chain = $1 and seq = 2', [untouched.id])) as [{ seq: number; hash: string }];
    const forged = { chain: untouched.id, seq, hash, count: 2, sweepEntryId: cut.sweepEntryId };
    const { log, file } = await tampered([gone(untouched.id, seq), cutsOf([...row.cuts, forged])]);
    expect([log, file]).toEqual([expect.arrayContaining(['deleted']), expect.arrayContaining(['deleted'])]);
  });

  test('an entry of a sweep that is written into the log by hand', async () => {
    const [reported] = await server.sql<{ payload: string; id: string; chain: string; prev_hash: string; seq: number }>(
      'select payload, id, chain, prev_hash, seq::integer from audit_entries where id = $1', [cut.sweepEntryId]);
    const [first] = survivors as [Survivor];
    const payload = reported!.payload.replaceAll(cut.hash, first.hash).replace(`"seq":${cut.seq}}`, `"seq":${first.seq}}`)
      .replace(`"count":${cut.count},"hash":"${first.hash}"`, `"count":${cut.count + 1},"hash":"${first.hash}"`);
    const hash = entryHash(preimage({ payload, prevHash: reported!.prev_hash }));
    const { log, file } = await tampered([
      gone(agent.id, first.seq), cutsOf(instead({ seq: first.seq, hash: first.hash, count: cut.count + 1 })),
      `update audit_entries set payload = $p$${payload}$p$, hash = '${hash}' where id = '${reported!.id}'`,
      `update audit_entries set prev_hash = '${hash}' where chain = '${reported!.chain}' and seq = ${reported!.seq + 1}`,
      `update audit_heads set hash = '${hash}' where chain = '${reported!.chain}' and seq = ${reported!.seq}`,
    ]);
    expect(log.length).toBeGreaterThan(0);
    expect(file.length).toBeGreaterThan(0);
  });

  test('a sweep\'s entry deleted', async () => {
    const { log, file } = await tampered([`delete from audit_entries where id = '${cut.sweepEntryId}'`]);
    expect([log, file]).toEqual([expect.arrayContaining(['deleted']), expect.arrayContaining(['deleted'])]);
  });

  test('a sweep that rests on another checkpoint than its entry says, or that is forgotten', async () => {
    const beyond = { ...row.checkpoint, size: row.checkpoint.size + 1 };
    for (const change of [
      `update audit_sweeps set checkpoint = '${JSON.stringify(beyond)}' where id = '${row.id}'`,
      `delete from audit_sweeps where id = '${row.id}'`,
    ]) expect((await tampered([change])).log).toContain('deleted');
  });

  test('and the server says so', async () => {
    await server.database.asSuperuser(cutsOf(instead({ hash: '0'.repeat(64) })));
    expect(await verification(server)).toMatchObject({ valid: false, verdict: 'tampered' });
    await server.database.asSuperuser(cutsOf(row.cuts));
    expect((await asRoot(server).get('/api/v1/audit', { query: { agentId: agent.id } })).expect(200).list('entries')).not.toEqual([]);
    await allSound();
  });
});
