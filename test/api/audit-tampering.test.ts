import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Verification } from '../../src/modules/audit/verification.js';
import { verifyDatabase } from '../../src/modules/audit/verification/verify-database.js';
import { asRoot } from '../support/actors.js';
import { auditOf } from '../support/audit.js';
import { anAgent, type BuiltAgent } from '../support/builders.js';
import { withoutLeader } from '../support/leader.js';
import { freePort } from '../support/server-process.js';
import { startServer, type TestServer } from '../support/server.js';
import { CHECKOUT } from '../support/test-run.js';

jest.setTimeout(60_000);

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

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function cli(...args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(CHECKOUT, 'bin/countersign.mjs'), 'audit', 'verify', ...args], { cwd: CHECKOUT },
      (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, stdout, stderr });
    });
  });
}

/** Makes the change, as a superuser past every trigger, looks, and undoes it. */
function tampered(change: string): Promise<Verification> {
  return withoutLeader(server.database, async () => {
    await server.sql('create table kept_entries as select * from audit_entries');
    await server.sql('create table kept_heads as select * from audit_heads');
    await server.sql('create table kept_queue as select organization_id, chains, seqs, hashes from audit_tree_queue order by id');
    try {
      await server.database.asSuperuser(change);
      return await verified();
    } finally {
      await server.database.asSuperuser(
        'truncate audit_entries, audit_heads, audit_tree_queue',
        'insert into audit_entries select * from kept_entries',
        'insert into audit_heads select * from kept_heads',
        'insert into audit_tree_queue (organization_id, chains, seqs, hashes) select * from kept_queue',
      );
      await server.sql('drop table kept_entries, kept_heads, kept_queue');
    }
  });
}

const where = () => `where id = '${victim.id}'`;

test('untouched, it is as it was written', async () => {
  expect(await verified()).toMatchObject({ valid: true, verdict: 'valid_unanchored', breaks: [] });
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
    const blanked = (JSON.parse(row!.disclosures) as { d: string; pointer: string }[])
      .map(({ d, pointer }) => ({ d, erased: true, pointer }));
    const outcome = await tampered(`update audit_entries set disclosures = '${JSON.stringify(blanked)}' ${where()}`);
    expect(outcome.breaks.map(({ kind, entryId }) => [kind, entryId])).toContainEqual(['unauthorised_erasure', victim.id]);
  });
});

describe('countersign audit verify', () => {
  test('exits with 0 when all is well, and says what it read', async () => {
    const { code, stdout } = await cli('--database-url', server.database.url, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ valid: true, verdict: 'valid_unanchored', breaks: [],
      entries: expect.any(Number) });
    expect(await cli('--database-url', server.database.url, '--agent', agent.id)).toMatchObject({ code: 0 });
  });

  test('exits with 1 and names the entry when it was edited; so does the server', async () => {
    await server.database.asSuperuser(`update audit_entries set actor_id = 'root' ${where()}`);
    try {
      const told = await cli('--database-url', server.database.url, '--json');
      expect(told.code).toBe(1);
      const found = { kind: 'column_mismatch', entryId: victim.id, chain: agent.id, position: Number(victim.seq) };
      expect(JSON.parse(told.stdout)).toMatchObject({ valid: false, verdict: 'tampered', breaks: [found] });
      const plain = await cli('--database-url', server.database.url);
      expect([plain.code, plain.stdout.includes(victim.id)]).toEqual([1, true]);
      const reply = (await asRoot(server).get('/api/v1/audit/verify')).expect(200);
      expect(reply.body).toMatchObject({ valid: false, verdict: 'tampered', breaks: [found] });
    } finally {
      await server.database.asSuperuser(`update audit_entries set actor_id = '${agent.id}' ${where()}`);
    }
    expect((await auditOf(server, agent.id)).length).toBeGreaterThan(0);
  });

  test('exits with 2 where there is nothing to read, or on wrong usage', async () => {
    const nowhere = `postgres://nobody:x@127.0.0.1:${await freePort()}/none`;
    const unreachable = await cli('--database-url', nowhere);
    expect([unreachable.code, unreachable.stderr !== '']).toEqual([2, true]);
    expect((await cli('--database-url', server.database.url, '--agent', 'agt_nobody')).code).toBe(2);
    expect((await cli('--no-such-option')).code).toBe(2);
  });
});
