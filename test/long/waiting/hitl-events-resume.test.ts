import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { asRoot } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { openEvents, type OpenStream, type StreamTerms } from '../../support/http/event-stream.js';
import { eventually } from '../../support/running/eventually.js';
import { generator } from '../../support/proofs/races.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { ROOT_KEY } from '../../support/servers/test-run.js';

let here: TestServer;
let there: TestServer;
let agents: BuiltAgent[];
const streams: OpenStream[] = [];

beforeAll(async () => {
  here = await startServer();
  there = await startServer({ replicaOf: here });
  agents = await Promise.all(Array.from({ length: 6 }, () => anAgent(here).granted('email.send', { hitlMode: 'propose' }).create()));
});
afterEach(() => {
  for (const stream of streams.splice(0)) stream.close();
});
afterAll(async () => {
  await there.stop();
  await here.stop();
});

async function follow(server: TestServer, terms: StreamTerms = {}): Promise<OpenStream> {
  const stream = await openEvents(server, ROOT_KEY, terms);
  streams.push(stream);
  // Without a place to come back to it is told one first.
  if (terms.lastEventId === undefined && terms.query === undefined) await eventually(() => expect(stream.lastId()).not.toBe(''));
  return stream;
}

const ask = async (of = agents[0]!): Promise<string> =>
  (await of.client.post('/api/v1/execute', { capability: 'email.send' })).expect(202).text('hitlRequestId');
const cancel = async (id: string, server = here) => (await asRoot(server).post(`/api/v1/hitl/${id}/cancel`)).expect(200);

/** A transaction of its own that has told of something and not committed. */
async function openTransaction(id: string): Promise<{ commit(): Promise<void> }> {
  const client = new pg.Client({ connectionString: here.database.url });
  await client.connect();
  await client.query('begin');
  await client.query('update hitl_requests set reminded_seconds = coalesce(reminded_seconds, 0) + 1 where id = $1', [id]);
  return {
    commit: async () => {
      await client.query('commit');
      await client.end();
    },
  };
}

/** Ids of all events behind that one, in their order. */
async function storedAfter(id: string): Promise<string[]> {
  const [txid, n] = id.split('.');
  const rows = await here.sql<{ id: string }>(
    `select txid::text || '.' || n as id from hitl_events where (txid, n) > ($1::xid8, $2::bigint) order by txid, n`, [txid, n]);
  return rows.map((row) => row.id);
}

/** Until readers may pass all that is there: other databases of the server have transactions, too, and hold streams up. */
const settled = () => eventually(async () => {
  const heldBackBy = await here.sql(`
    select other.datname, other.state, other.query, clock_timestamp() - other.xact_start as open
    from (select from hitl_events where txid >= pg_snapshot_xmin(pg_current_snapshot()) limit 1) held
    left join pg_stat_activity other on other.backend_xid is not null`);
  expect(heldBackBy).toEqual([]);
}, { within: 120_000, every: 50 });

beforeEach(settled);

describe('the order of events', () => {
  test('who commits late is missed by nobody: what came later waits for them', async () => {
    const held = await ask();
    await settled();
    const stream = await follow(here);
    const late = await openTransaction(held);
    const ids = [await ask(), await ask()];
    await cancel(ids[0]!);
    await eventually(async () => expect((await storedAfter(stream.lastId())).length).toBe(4));
    await pause(1_000);
    expect(stream.events.filter(({ data }) => ids.includes(data.id as string))).toEqual([]);
    await late.commit();
    const seen = await stream.has(5, [held, ...ids]);
    expect([seen[0]!.event, seen[0]!.data.id]).toEqual(['hitl.reminded', held]);
    expect(seen.slice(1).map(({ event }) => event)).toEqual(['hitl.created', 'hitl.created', 'hitl.cancelled', 'execution.cancelled']);
  });

  test('a client that comes and goes between two servers gets every event once, while many commit beside each other', async () => {
    const random = generator(14);
    const begin = (await follow(here)).lastId();
    const open = await Promise.all(agents.map((agent) => ask(agent)));
    let busy = true;
    const work = Promise.all([
      ...agents.map(async (agent, i) => {
        for (let round = 0; round < 12; round++) await cancel(await ask(agent), i % 2 === 0 ? here : there);
      }),
      (async () => {
        for (let round = 0; round < 12; round++) {
          const late = await openTransaction(open[round % open.length]!);
          await pause(random() * 120);
          await late.commit();
        }
      })(),
    ]).finally(() => {
      busy = false;
    });
    const got: string[] = [];
    let lastId = begin;
    let stays = 0;
    const stay = async (until: () => Promise<void> | void) => {
      const stream = await follow(stays++ % 2 === 0 ? here : there, { lastEventId: lastId });
      try {
        await until();
        if (!busy) await eventually(async () => expect(await storedAfter(stream.lastId())).toEqual([]));
      } finally {
        stream.close();
        got.push(...stream.events.map(({ id }) => id));
        if (stream.lastId() !== '') lastId = stream.lastId();
      }
    };
    while (busy) await stay(() => pause(random() * 150));
    await work;
    await stay(() => undefined);
    expect(stays).toBeGreaterThan(3);
    expect(got).toEqual(await storedAfter(begin));
    expect(got.length).toBeGreaterThan(agents.length * 12 * 3);
  });
});

describe('another server', () => {
  test('its events come in, by its news', async () => {
    const stream = await follow(there);
    const id = await ask();
    await cancel(id);
    await stream.has(3, [id]);
  });

  test('a server that ends lets its streams end instead of cutting them, and the next one goes on where they stood', async () => {
    const stream = await follow(there);
    const first = await ask();
    await stream.has(1, [first]);
    await there.restart();
    await eventually(() => expect(stream.isOver()).toBe(true));
    // One that held the server up would have been cut, once the time that open calls are given was over.
    expect(stream.isComplete()).toBe(true);
    await cancel(first);
    const next = await follow(there, { lastEventId: stream.lastId() });
    expect((await next.has(2, [first])).map(({ event }) => event)).toEqual(['hitl.cancelled', 'execution.cancelled']);
    expect(next.events.length).toBe(2);
    expect(there.output()).not.toContain('"level":50');
  });
});

describe('whoever reads too slowly', () => {
  const LARGE = 4_000;
  const MANY = 5_000;

  test('is let go, and gets the rest when they come back', async () => {
    const slow = await follow(here);
    const begin = slow.lastId();
    const id = await ask();
    await slow.has(1, [id]);
    slow.pause();
    // More than the buffers of both sides of a connection take.
    await here.sql(
      `insert into hitl_events
         (organization_id, event, request_id, agent_id, capability, status, escalation_level, expires_at, execution_id)
       select organization_id, 'hitl.reminded', id, agent_id, repeat('x', $2), status, 0, expires_at, execution_id
       from hitl_requests, generate_series(1, $3::integer) where id = $1`, [id, LARGE, MANY]);
    // Who comes now begins where the server stands: once it has all of them, it has told all of them to whoever follows.
    await eventually(async () => expect(await storedAfter((await follow(here)).lastId())).toEqual([]), { every: 500 });
    slow.resume();
    await eventually(() => expect(slow.isOver()).toBe(true));
    expect(slow.events.length).toBeLessThan(MANY);
    const back = await follow(here, { lastEventId: slow.lastId() });
    await back.has(MANY + 1 - slow.events.length, [id]);
    expect([...slow.events, ...back.events].map((event) => event.id)).toEqual(await storedAfter(begin));
  });
});

describe('whoever was away for too long', () => {
  test('an id from before the oldest kept event: load the list anew, and go on from there', async () => {
    const watching = await follow(here);
    const ids = [await ask(), await ask(), await ask()];
    // A stream begins where those stand that this server has already.
    const [first, second, third] = (await watching.has(ids.length, ids)).map(({ id }) => id);
    await here.sql(`update hitl_events set at = at - interval '25 hours' where request_id = any ($1)`, [ids.slice(0, 2)]);
    // The janitor has been here: all but the last of those that are over are gone.
    await here.sql(`delete from hitl_events where (txid, n) < (select txid, n from hitl_events where request_id = $1)`, [ids[1]]);
    const tooOld = await follow(here, { lastEventId: first! });
    expect((await tooOld.has(1)).map(({ event, data }) => ({ event, data }))).toEqual([{ event: 'reset', data: { reason: 'too_old' } }]);
    const id = await ask();
    await tooOld.has(1, [id]);
    expect(tooOld.events.map(({ event }) => event)).toEqual(['reset', 'hitl.created']);
    const inTime = await follow(here, { lastEventId: second! });
    expect((await inTime.has(2)).map((event) => event.id).slice(0, 1)).toEqual([third]);
    // What the reset said is a place to come back to.
    const back = await follow(here, { lastEventId: tooOld.events[0]!.id });
    expect((await back.has(1)).map(({ data }) => data.id)).toEqual([id]);
  });

  test('an id that this database cannot know', async () => {
    const stream = await follow(here, { lastEventId: '18446744073709551615.0' });
    expect((await stream.has(1))[0]).toMatchObject({ event: 'reset', data: { reason: 'unknown' } });
    const id = await ask();
    await stream.has(1, [id]);
  });

  test('more missed than anybody wants to read again', async () => {
    const begin = (await follow(here)).lastId();
    const id = await ask();
    await here.sql(
      `insert into hitl_events
         (organization_id, event, request_id, agent_id, capability, status, escalation_level, expires_at, execution_id)
       select organization_id, 'hitl.reminded', id, agent_id, capability, status, 0, expires_at, execution_id
       from hitl_requests, generate_series(1, 12000) where id = $1`, [id]);
    // Where nobody follows yet, it is all in the past, once no older transaction holds it back.
    await settled();
    const stream = await follow(there, { query: { last_event_id: begin } });
    const reset = { event: 'reset', data: { reason: 'too_many' } };
    await eventually(() => expect(stream.events.at(-1)).toMatchObject(reset));
    await cancel(id);
    const last = { event: 'execution.cancelled' };
    await eventually(() => expect(stream.events.at(-1)).toMatchObject(last));
  });
});
