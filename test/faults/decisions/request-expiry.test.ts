import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { anonymous, asRoot, type Client } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { eventually } from '../../support/running/eventually.js';
import { requestOf } from '../../support/builders/gate.js';
import { anOrganization } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { makeDue, manyDue, sweptTo, withoutSweeper } from '../../support/hitl/due-requests.js';
import { integrityOf } from '../../support/log/verified-log.js';
import { keepEvents } from '../../support/notifications/kept-events.js';

let server: TestServer;
let root: Client;

beforeEach(async () => {
  server = await startServer();
  await keepEvents(server);
  root = asRoot(server);
});
afterEach(() => server.stop());

const PATIENCE = { within: 120_000, every: 200 };

async function anAsker(organizationId?: string): Promise<BuiltAgent> {
  const builder = anAgent(server).granted('email.send', { hitlMode: 'propose' });
  return (organizationId === undefined ? builder : builder.inOrganization(organizationId)).create();
}

const ask = async ({ client }: BuiltAgent): Promise<string> =>
  (await client.post('/api/v1/execute', { capability: 'email.send' })).expect(202).text('hitlRequestId');

/** So many requests of each agent, all due at once. */
async function allDue(agents: readonly BuiltAgent[], each: number): Promise<void> {
  const requests = await Promise.all(agents.map(ask));
  await withoutSweeper(server, async () => {
    for (const request of requests) await manyDue(server, request, each - 1);
    await makeDue(server, requests);
  });
}

const countOf = async (status: string): Promise<number> =>
  (await server.sql<{ count: number }>('select count(*)::integer as count from hitl_requests where status = $1', [status]))[0]!.count;

const allEnded = (count: number) => eventually(async () => expect(await countOf('timed_out')).toBe(count), PATIENCE);

/** Each ended once: with its one entry, its news and its execution; and nobody has an open one left. */
async function expectEndedOnce(count: number): Promise<void> {
  const [seen] = await server.sql(`select
    (select count(*)::integer from hitl_requests where status = 'timed_out' and decided_by = 'system') as requests,
    (select count(*)::integer from audit_entries where event = 'hitl.timed_out') as entries,
    (select count(distinct payload::json -> 'metadata' ->> 'hitlId')::integer from audit_entries
     where event = 'hitl.timed_out') as recorded,
    (select count(*)::integer from executions where status = 'cancelled' and reason = 'timed_out') as executions,
    (select count(*)::integer from kept_events where payload ->> 'event' = 'hitl.request.timed_out') as news,
    (select sum(open_requests)::integer from audit_heads) as open`);
  expect(seen).toEqual({ requests: count, entries: count, recorded: count, executions: count, news: count, open: 0 });
  // The requests were made by SQL, without their entries.
  expect(await integrityOf(server.database.url)).toMatchObject({ valid: true, breaks: [] });
}

/** Holds an agent's head as a frozen server's transaction would. */
async function whileHeld(agent: BuiltAgent, then: () => Promise<void>): Promise<void> {
  const holder = new pg.Client({ connectionString: server.database.url });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('select from audit_heads where chain = $1 for update', [agent.id]);
    await then();
  } finally {
    await holder.query('rollback');
    await holder.end();
  }
}

describe('many at once', () => {
  test('two servers sweep 800: each ends once', async () => {
    const replica = await startServer({ replicaOf: server });
    try {
      await allDue(await Promise.all(Array.from({ length: 20 }, () => anAsker())), 40);
      // Callers sweep along, without the servers' order among themselves.
      const checks = await Promise.all([root, asRoot(replica)].map((client) => client.post('/api/v1/hitl/check-timeouts')));
      for (const check of checks) check.expect(200);
      await allEnded(800);
      await expectEndedOnce(800);
    } finally {
      await replica.stop();
    }
  });

  test('a server is killed in the middle of its sweep, again and again: nothing is lost, nothing ends twice', async () => {
    await allDue(await Promise.all(Array.from({ length: 10 }, () => anAsker())), 150);
    const killed: number[] = [];
    for (let ended = 0; killed.length < 3 && ended < 1_500; killed.push(ended)) {
      const before = ended;
      await eventually(async () => expect(ended = await countOf('timed_out')).toBeGreaterThan(before), { every: 10 });
      await server.kill();
      await server.restart();
    }
    expect(killed[0]).toBeLessThan(1_500);
    await allEnded(1_500);
    await expectEndedOnce(1_500);
  });

  test('one that is alone does not wait behind another organization\'s thousands', async () => {
    const [many, alone] = [await anAsker(), await anAsker(await anOrganization(server))];
    const request = await ask(alone);
    await withoutSweeper(server, async () => {
      await manyDue(server, await ask(many), 2_000);
      await makeDue(server, [request]);
    });
    await allEnded(2_001);
    const [row] = await server.sql<{ before: number }>(`select count(*)::integer as before from hitl_requests a, hitl_requests b
      where a.id = $1 and b.id <> a.id and b.decided_at < a.decided_at`, [request]);
    expect(row!.before).toBeLessThan(1_000);
  });
});

describe('what cannot be ended now does not hold up the rest', () => {
  test('an agent whose head somebody holds', async () => {
    const [held, free] = [await anAsker(), await anAsker()];
    const [first, second] = [await ask(held), await ask(free)];
    await whileHeld(held, async () => {
      await makeDue(server, [first]);
      await makeDue(server, [second]);
      await sweptTo(server, second, 'timed_out');
      expect(await requestOf(server, first)).toMatchObject({ status: 'pending' });
    });
    await sweptTo(server, first, 'timed_out');
  });

  test('a caller who sweeps then learns that nothing ended, and no entry is missed', async () => {
    const agent = await anAsker();
    const request = await ask(agent);
    await withoutSweeper(server, () => whileHeld(agent, async () => {
      await makeDue(server, [request]);
      expect((await root.post('/api/v1/hitl/check-timeouts')).expect(200).body)
        .toEqual({ checked: 1, timedOut: 0, approved: 0, escalated: 0 });
    }));
    await sweptTo(server, request, 'timed_out');
  });

  test('callers who sweep at once: what one has ended the others find done, and say so', async () => {
    const agents = await Promise.all([anAsker(), anAsker(), anAsker()]);
    const requests = await Promise.all(agents.map(ask));
    await withoutSweeper(server, async () => {
      for (const request of requests) await manyDue(server, request, 99);
      await makeDue(server, requests);
      const replies = await Promise.all(Array.from({ length: 8 }, () => root.post('/api/v1/hitl/check-timeouts')));
      const recorded = replies.map((reply) => reply.expect(200).body as { checked: number; timedOut: number });
      expect(recorded.reduce((sum, { timedOut }) => sum + timedOut, 0)).toBe(await countOf('timed_out'));
    });
    await allEnded(300);
    await expectEndedOnce(300);
  });

  test('requests whose rows or executions somebody has changed by hand', async () => {
    const agent = await anAsker();
    const requests: string[] = [];
    for (let i = 0; i < 12; i++) requests.push(await ask(agent));
    const [noAction, noExecution, ...sound] = requests;
    await server.sql(`update executions set status = 'running', lease_until = clock_timestamp() + interval '1 hour'
      where hitl_request_id = $1`, [noExecution]);
    await server.sql(`update hitl_requests set timeout_action = 'ignore' where id = $1`, [noAction]);
    await makeDue(server, requests);
    for (const id of sound) await sweptTo(server, id, 'timed_out');
    for (const id of [noAction!, noExecution!]) expect(await requestOf(server, id)).toMatchObject({ status: 'pending' });
    await eventually(() => expect(server.output().match(/a request could not be ended/g)).toHaveLength(2));
    // Another of the same agent still ends in its time.
    const next = await ask(agent);
    await makeDue(server, [next]);
    await sweptTo(server, next, 'timed_out');
    await server.sql(`update executions set status = 'pending_hitl', lease_until = null where hitl_request_id = $1`, [noExecution]);
  });

  test('requests that a stop holds stay, and end after it', async () => {
    const [stopped, free] = [await anAsker(), await anAsker()];
    await allDue([stopped], 1);
    await allEnded(1);
    const stop = (await root.post('/api/v1/stops', { scope: 'agent', id: free.id, reason: 'later' })).expect(201).text('stop.id');
    (await root.delete(`/api/v1/stops/${stop}`)).expect(204);
    const original = await ask(stopped);
    const held = (await root.post('/api/v1/stops', { scope: 'agent', id: stopped.id, reason: 'held' })).expect(201).text('stop.id');
    await manyDue(server, original, 299);
    await makeDue(server, [original]);
    await allDue([free], 300);
    await allEnded(301);
    expect(await countOf('pending')).toBe(300);
    (await root.delete(`/api/v1/stops/${held}`)).expect(204);
    await allEnded(601);
    await expectEndedOnce(601);
  });
});

test('calls that use up the pool keep neither the sweeper nor readiness from working', async () => {
  await server.restart({ DATABASE_POOL_SIZE: '2' });
  const [busy, other] = [await anAsker(), await anAsker()];
  const request = await ask(other);
  await whileHeld(busy, async () => {
    let isOver = false;
    const flood = Promise.all(Array.from({ length: 12 }, async () => {
      while (!isOver) await root.post(`/api/v1/agents/${busy.id}/deactivate`);
    }));
    try {
      // A call that needs no lock at all finds no connection.
      await eventually(async () => (await root.get('/api/v1/agents')).expect(503, 'UNAVAILABLE'));
      await makeDue(server, [request]);
      await eventually(async () => {
        const [row] = await server.sql<{ status: string }>('select status from hitl_requests where id = $1', [request]);
        expect(row!.status).toBe('timed_out');
      });
      const readiness = await Promise.all(Array.from({ length: 30 }, () => anonymous(server).get('/health/ready')));
      for (const reply of readiness) expect(reply.expect(200).text('status')).toBe('ready');
      await eventually(async () => (await root.get('/api/v1/agents')).expect(503, 'UNAVAILABLE'));
    } finally {
      isOver = true;
      await flood;
    }
  });
});
