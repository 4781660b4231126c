import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import type { DatabaseProxy } from '../../support/servers/database-proxy.js';
import { eventually } from '../../support/running/eventually.js';
import { defineCapability, executionBecomes, requestOf } from '../../support/builders/gate.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import type { TestServer } from '../../support/servers/server.js';
import { begunOn, isWaitingOn, tableHeld, twoServers, type TwoServers } from '../../support/servers/two-servers.js';
import { EXECUTE } from '../../support/http/paths.js';

// One server has calls under way when another one stops their agent. After the stop's answer nothing begins any more, and it
// answers although the first server is frozen with its locks held.

const STOPS = '/api/v1/stops';
/** The requirement's own bound, in milliseconds. */
const ANSWERS_WITHIN = 5_000;

let servers: TwoServers;
let busy: TestServer;
let other: TestServer;
let root: Client;
let line: DatabaseProxy;
let receiver: Receiver;

beforeAll(async () => {
  [servers, receiver] = await Promise.all([twoServers(), startReceiver()]);
  ({ busy, other, line } = servers);
  root = asRoot(other);
  await defineCapability(other, 'crm.push', { connector: { type: 'http', method: 'POST', url: receiver.url, body: '{input}' } });
});

afterAll(async () => {
  await servers.close();
  await receiver.close();
});

// What one test that failed has stopped is no other's failure.
afterEach(async () => {
  const left = (await root.get(STOPS, { query: { status: 'active' } })).expect(200).list('stops') as { id: string }[];
  for (const { id } of left) await root.delete(`${STOPS}/${id}`);
});

const SCOPES = ['agent', 'organization', 'all'] as const;
type StopScope = (typeof SCOPES)[number];

/** Its calls go to the busy server. */
const anAgentThere = () =>
  anAgent(busy).granted('web.search').granted('crm.push', { hitlMode: 'propose' }).create();
const search = (agent: BuiltAgent) => agent.client.post<{ status: unknown; code?: unknown }>(EXECUTE, { capability: 'web.search' });
const asked = async (agent: BuiltAgent, capability = 'crm.push') =>
  (await agent.client.post(EXECUTE, { capability, input: { n: 1 } })).expect(202);

function stop(scope: StopScope, agent: BuiltAgent): Promise<Reply> {
  return root.post(STOPS, { scope, reason: 'a fault', ...(scope === 'agent' ? { id: agent.id } : {}) });
}

const lift = async (made: Reply) => void (await root.delete(`${STOPS}/${made.expect(201).text('stop.id')}`)).expect(204);

const begun = () => begunOn(other);

/** How long the answer took, in milliseconds. */
async function timed(call: () => Promise<Reply>): Promise<{ reply: Reply; ms: number }> {
  const began = performance.now();
  return { reply: await call(), ms: Math.round(performance.now() - began) };
}

const pause = (ms: number) => new Promise<'later'>((resolve) => setTimeout(() => resolve('later'), ms));

const isWaiting = (query: string) => isWaitingOn(other, query);

describe('what was decided without it', () => {
  test.each(SCOPES)('a call that was decided when %s is stopped, and not committed: nothing begins', async (scope) => {
    const agent = await anAgentThere();
    const { held, release } = line.hold('gate-commit-');
    const call = search(agent);
    await held;
    const made = await stop(scope, agent).finally(release);
    expect((await call).expect(403, 'STOPPED').text('detail')).toContain(made.text('stop.id'));
    expect(await other.sql(`select 1 from executions where agent_id = $1`, [agent.id])).toEqual([]);
    await lift(made);
  });

  test.each(SCOPES)('a call that is just committing when %s is stopped: the answer waits for it', async (scope) => {
    const agent = await anAgentThere();
    // Whoever commits an execution waits here, past its comparison and with its locks.
    const inTheWay = await tableHeld(other, 'executions', 'share');
    const call = search(agent);
    await isWaiting('gate_commit');
    const answer = stop(scope, agent);
    expect(await Promise.race([answer, pause(400)])).toBe('later');
    await inTheWay.release();
    const made = (await answer).expect(201);
    const atTheAnswer = await begun();
    expect([200, 403]).toContain((await call).status);
    await pause(300);
    expect(await begun()).toEqual(atTheAnswer);
    await lift(made);
  });

  test.each(SCOPES)('an approval that is under way when %s is stopped: the answer waits, and its action does not begin', async (scope) => {
    const agent = await anAgentThere();
    const request = await asked(agent);
    const { held, release } = line.hold('update hitl_requests q set status');
    const approval = asRoot(busy).post(`/api/v1/hitl/${request.text('hitlRequestId')}/approve`, {}, { query: { wait: 0 } });
    await held;
    const answer = stop(scope, agent);
    expect(await Promise.race([answer, pause(400)])).toBe('later');
    release();
    const made = (await answer).expect(201);
    const atTheAnswer = await begun();
    (await approval).expect(200);
    expect(await executionBecomes(other, request.text('executionId'), 'cancelled')).toMatchObject({ reason: 'stopped' });
    expect(await begun()).toEqual(atTheAnswer);
    await lift(made);
  });
});

test.each(SCOPES)('under load on one server, %s stopped on the other: nothing begins after the answer', async (scope) => {
  const agents = await Promise.all([anAgentThere(), anAgentThere(), anAgentThere()]);
  const [first] = agents as [BuiltAgent, ...BuiltAgent[]];
  const seen: { agentId: string; sent: number; status: number }[] = [];
  let over = false;
  const load = agents.flatMap((agent) => Array.from({ length: 6 }, async () => {
    while (!over) {
      const sent = performance.now();
      seen.push({ agentId: agent.id, sent, status: (await search(agent)).status });
    }
  }));
  await eventually(() => expect(seen.filter(({ status }) => status === 200).length).toBeGreaterThan(100));
  const made = (await stop(scope, first)).expect(201);
  const answered = performance.now();
  const ofHeld = scope === 'agent' ? [first.id] : agents.map(({ id }) => id);
  const startsOf = async () =>
    other.sql(`select chain, count(*) from audit_entries where event = 'execution.started' and chain = any ($1) group by 1 order by 1`,
      [ofHeld]);
  const atTheAnswer = await startsOf();
  await pause(700);
  over = true;
  await Promise.all(load);
  expect(await startsOf()).toEqual(atTheAnswer);
  const after = seen.filter(({ agentId, sent }) => sent > answered && ofHeld.includes(agentId));
  expect(after.length).toBeGreaterThan(0);
  expect(after.filter(({ status }) => status !== 403)).toEqual([]);
  const beside = seen.filter(({ agentId, sent, status }) => !ofHeld.includes(agentId) && sent > answered && status === 200);
  expect(beside.length > 0).toBe(scope === 'agent');
  await lift(made);
});

describe('of everything there is', () => {
  test('an organization that is being made when everything is stopped is stopped with it', async () => {
    const id = 'org_00000000000000000000000000beingmade01';
    const made = other.sql(`do $$ begin
      insert into organizations (id, name, created_at, updated_at) values ('${id}', 'being made', clock_timestamp(), clock_timestamp());
      perform pg_sleep(0.7); end $$`);
    await eventually(async () => {
      const found = await other.sql(`select 1 from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`);
      expect(found).toHaveLength(1);
    });
    const stopped = await root.post(STOPS, { scope: 'all', reason: 'a fault' });
    await made;
    // What its agents are decided by has changed, so that nothing decided without the stop can commit.
    expect(await other.sql('select revision from organizations where id = $1', [id])).toEqual([{ revision: '1' }]);
    await lift(stopped);
  });

  test('with 3,000 organizations it answers within 5 s', async () => {
    await other.sql(`insert into organizations (id, name, created_at, updated_at)
      select 'org_many' || n, 'one of many', clock_timestamp(), clock_timestamp() from generate_series(1, 3000) n`);
    const { reply, ms } = await timed(() => root.post(STOPS, { scope: 'all', reason: 'a fault' }));
    process.stdout.write(`a stop of 3,000 organizations: ${ms} ms\n`);
    expect(ms).toBeLessThan(ANSWERS_WITHIN);
    await lift(reply);
    await other.sql(`delete from organizations where id like 'org_many%'`);
  });
});

describe('the other server is frozen', () => {
  /** Freezes the busy server for the time of the story. */
  async function frozen<T>(story: () => Promise<T>): Promise<T> {
    process.kill(busy.pid, 'SIGSTOP');
    try {
      return await story();
    } finally {
      process.kill(busy.pid, 'SIGCONT');
    }
  }

  test.each(SCOPES)('with the agent\'s head and the barrier in an open transaction: a stop of %s answers within 5 s', async (scope) => {
    const agent = await anAgentThere();
    const request = await asked(agent);
    const { held, release } = line.hold('update hitl_requests q set status');
    const approval = asRoot(busy).post(`/api/v1/hitl/${request.text('hitlRequestId')}/approve`, {}, { query: { wait: 0 } });
    await held;
    const [made, atTheAnswer] = await frozen(async () => {
      const { reply, ms } = await timed(() => stop(scope, agent));
      process.stdout.write(`a stop of ${scope} beside a frozen server: ${ms} ms\n`);
      reply.expect(201);
      expect(ms).toBeLessThan(ANSWERS_WITHIN);
      return [reply, await begun()];
    });
    release();
    // Its transaction was ended: it approved nothing.
    expect([403, 503]).toContain((await approval).status);
    expect(await requestOf(other, request.text('hitlRequestId'))).toMatchObject({ status: 'pending', decided_by: null });
    (await search(agent)).expect(403, 'STOPPED');
    expect(await begun()).toEqual(atTheAnswer);
    await lift(made);
    (await asRoot(busy).post(`/api/v1/hitl/${request.text('hitlRequestId')}/approve`)).expect(200);
  });

  test.each(SCOPES)('with a queue of its own transactions for one head: a stop of %s answers within 5 s', async (scope) => {
    const agent = await anAgentThere();
    const requests: Reply[] = [];
    for (let i = 0; i < 4; i++) requests.push(await asked(agent));
    const approve = (request: Reply) =>
      asRoot(busy).post(`/api/v1/hitl/${request.text('hitlRequestId')}/approve`, {}, { query: { wait: 0 } });
    const { held, release } = line.hold('update hitl_requests q set status');
    const approvals = [approve(requests[0]!)];
    await held;
    approvals.push(...requests.slice(1).map(approve));
    await isWaiting('lock_barriers_and_heads_v1');
    const [made, atTheAnswer] = await frozen(async () => {
      const { reply, ms } = await timed(() => stop(scope, agent));
      process.stdout.write(`a stop of ${scope} beside a frozen server with a queue: ${ms} ms\n`);
      reply.expect(201);
      expect(ms).toBeLessThan(ANSWERS_WITHIN);
      return [reply, await begun()];
    });
    release();
    for (const approval of await Promise.all(approvals)) expect([403, 503]).toContain(approval.status);
    await pause(300);
    expect(await begun()).toEqual(atTheAnswer);
    await lift(made);
  });

  test('in the middle of its load: what it held back begins nothing when it goes on', async () => {
    const agents = await Promise.all([anAgentThere(), anAgentThere()]);
    let over = false;
    const statuses: number[] = [];
    const load = agents.flatMap((agent) => Array.from({ length: 8 }, async (_, n) => {
      while (!over) {
        if (n > 1) statuses.push((await search(agent)).status);
        else {
          const request = await agent.client.post(EXECUTE, { capability: 'crm.push' });
          if (request.status === 202) {
            await asRoot(busy).post(`/api/v1/hitl/${request.text('hitlRequestId')}/approve`, {}, { query: { wait: 0 } });
          }
        }
      }
    }));
    await eventually(() => expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(100));
    const [made, atTheAnswer] = await frozen(async () => {
      const { reply, ms } = await timed(() => stop('all', agents[0]!));
      process.stdout.write(`a stop of everything beside a server frozen under load: ${ms} ms\n`);
      reply.expect(201);
      expect(ms).toBeLessThan(ANSWERS_WITHIN);
      return [reply, await begun()];
    });
    await pause(1_000);
    over = true;
    await Promise.all(load);
    expect(await begun()).toEqual(atTheAnswer);
    (await search(agents[1]!)).expect(403, 'STOPPED');
    expect((await root.get('/api/v1/audit/verify')).expect(200).at('valid')).toBe(true);
    await lift(made);
  });
});
