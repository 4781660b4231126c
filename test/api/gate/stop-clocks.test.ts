import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { eventsOf } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { eventually } from '../../support/running/eventually.js';
import { requestOf } from '../../support/builders/gate.js';
import { anOrganization } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

// Stops hold clocks. Past hours are put into the rows by SQL; what is measured is what lifting the last stop makes of them.

let server: TestServer;
let root: Client;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
});
// A past that one test made up for everything would be the next one's past too.
afterEach(() => server.sql('delete from stops'));
afterAll(() => server.stop());

const STOPS = '/api/v1/stops';
const MINUTE = 60_000;

type StopScope = 'agent' | 'organization' | 'all';

interface Past {
  /** Minutes from now; before it where negative. */
  readonly created: number;
  readonly expires: number;
  readonly escalated?: number;
  /** Each from when until when; the one without an end is lifted by the test. */
  readonly stops: readonly (readonly [StopScope, number, number?])[];
}

async function anAgentOfItsOwn(hitlTimeoutSeconds = 1_800, capability = 'email.send'): Promise<BuiltAgent> {
  const terms = { hitlMode: 'propose', hitl_timeout_seconds: hitlTimeoutSeconds };
  return anAgent(server).inOrganization(await anOrganization(server)).granted(capability, terms).create();
}

async function asked(agent: BuiltAgent, capability = 'email.send'): Promise<string> {
  return (await agent.client.post('/api/v1/execute', { capability })).expect(202).text('hitlRequestId');
}

async function stopped(scope: StopScope, agent: BuiltAgent): Promise<string> {
  const id = { agent: agent.id, organization: agent.agent.organizationId, all: undefined }[scope];
  return (await root.post(STOPS, { scope, id, reason: 'frozen' })).expect(201).text('stop.id');
}

const lift = async (id: string) => void (await root.delete(`${STOPS}/${id}`)).expect(204);

/** Makes it so that the request and the stops over its agent began, and ended, when the past says. */
async function inThePast(agent: BuiltAgent, request: string, past: Past): Promise<{ id: string; from: number }[]> {
  const now = Date.now();
  const at = (minutes: number) => new Date(now + minutes * MINUTE);
  const stops: { id: string; from: number }[] = [];
  for (const [scope, from, until] of past.stops) {
    const id = await stopped(scope, agent);
    await server.sql('update stops set made_at = $2, lifted_at = $3, lifted_by = $4 where id = $1',
      [id, at(from), until === undefined ? null : at(until), until === undefined ? null : 'root']);
    if (until === undefined) stops.push({ id, from: at(from).getTime() });
  }
  await server.sql('update hitl_requests set created_at = $2, expires_at = $3, escalated_at = $4 where id = $1',
    [request, at(past.created), at(past.expires), past.escalated === undefined ? null : at(past.escalated)]);
  return stops;
}

async function timesOf(request: string): Promise<{ created: number; expires: number }> {
  const [row] = await server.sql<{ created_at: Date; expires_at: Date }>('select created_at, expires_at from hitl_requests where id = $1',
    [request]);
  return { created: row!.created_at.getTime(), expires: row!.expires_at.getTime() };
}

async function liftedAt(stop: string): Promise<number> {
  const [row] = await server.sql<{ lifted_at: Date }>('select lifted_at from stops where id = $1', [stop]);
  return row!.lifted_at.getTime();
}

describe('on resume the end of an open request moves by the time it was held', () => {
  test.each<[string, Past, number]>([
    ['one stop of the agent', { created: -20, expires: -5, stops: [['agent', -10]] }, -10],
    ['one stop of the organization', { created: -20, expires: -5, stops: [['organization', -10]] }, -10],
    ['one stop of everything', { created: -20, expires: -5, stops: [['all', -10]] }, -10],
    ['a window that would still be open', { created: -20, expires: 5, stops: [['agent', -10]] }, -10],
    ['asked while the stop was being made', { created: -8, expires: -3, stops: [['agent', -10]] }, -8],
    ['stops that overlap', { created: -30, expires: -14, stops: [['agent', -15, -5], ['organization', -10]] }, -15],
    ['one within another', { created: -30, expires: -5, stops: [['agent', -8, -6], ['organization', -10]] }, -10],
    ['a chain of three', { created: -60, expires: -19, stops: [['agent', -30, -20], ['organization', -20, -10], ['all', -10]] }, -30],
    ['a gap: what was held before it has been given back then',
      { created: -60, expires: -5, stops: [['agent', -30, -20], ['organization', -10]] }, -10],
    ['escalated while the stop was being made: the new window opened then',
      { created: -20, escalated: -6, expires: -5, stops: [['organization', -10]] }, -6],
  ])('%s', async (_name, past, since) => {
    const capability = past.escalated === undefined ? 'email.send' : 'phone.call';
    const agent = await anAgentOfItsOwn(1_800, capability);
    const request = await asked(agent, capability);
    const [last] = await inThePast(agent, request, past);
    const before = await timesOf(request);
    await lift(last!.id);
    const held = (await liftedAt(last!.id)) - (last!.from + (since - past.stops.at(-1)![1]) * MINUTE);
    expect(await timesOf(request)).toEqual({ ...before, expires: before.expires + held });
    (await root.post(`/api/v1/hitl/${request}/approve`)).expect(200);
  });

  test('a window that had run out before the stop stays over', async () => {
    const agent = await anAgentOfItsOwn();
    const request = await asked(agent);
    const [last] = await inThePast(agent, request, { created: -30, expires: -11, stops: [['agent', -10]] });
    const before = await timesOf(request);
    await root.post('/api/v1/hitl/check-timeouts');
    expect(await requestOf(server, request)).toMatchObject({ status: 'pending' });
    await lift(last!.id);
    expect(await timesOf(request)).toEqual(before);
    (await root.post(`/api/v1/hitl/${request}/approve`)).expect(409, 'HITL_EXPIRED');
    await eventually(async () => expect(await requestOf(server, request)).toMatchObject({ status: 'timed_out' }));
  });

  test.each<[StopScope, StopScope]>([['agent', 'organization'], ['organization', 'all'], ['all', 'agent'], ['agent', 'agent']])(
    'a stop of %s is lifted while one of %s holds: it moves when the last one is, by all of the time', async (first, second) => {
      const agent = await anAgentOfItsOwn();
      const request = await asked(agent);
      const stops = await inThePast(agent, request, { created: -60, expires: -25, stops: [[first, -30], [second, -20]] });
      const before = await timesOf(request);
      await lift(stops[0]!.id);
      expect(await timesOf(request)).toEqual(before);
      (await root.post(`/api/v1/hitl/${request}/approve`)).expect(403, 'STOPPED');
      await lift(stops[1]!.id);
      expect((await timesOf(request)).expires - before.expires).toBe((await liftedAt(stops[1]!.id)) - stops[0]!.from);
    });

  test.each<[StopScope, StopScope]>([['organization', 'agent'], ['agent', 'all'], ['all', 'organization']])(
    'a stop of %s is lifted while one of %s is being made, unseen: the time of the first is given back once', async (first, second) => {
      const agent = await anAgentOfItsOwn();
      const request = await asked(agent);
      const [one] = await inThePast(agent, request, { created: -20, expires: -5, stops: [[first, -10]] });
      const before = await timesOf(request);
      await lift(one!.id);
      const other = await stopped(second, agent);
      // It had taken its time before the first one's end, and committed after it.
      await server.sql(`update stops set made_at = (select lifted_at from stops where id = $2) - interval '5 milliseconds' where id = $1`,
        [other, one!.id]);
      await lift(other);
      expect((await timesOf(request)).expires - before.expires).toBe((await liftedAt(other)) - one!.from);
    });

  test('two are lifted side by side, and the one that says the later time commits first: none of the time is lost', async () => {
    const agent = await anAgentOfItsOwn();
    const request = await asked(agent);
    // The one that ends later has committed without having seen that the other one ends.
    const [last] = await inThePast(agent, request, { created: -20, expires: -5, stops: [['organization', -10, 5], ['agent', -8]] });
    const before = await timesOf(request);
    await lift(last!.id);
    expect((await timesOf(request)).expires - before.expires).toBe(15 * MINUTE);
  });

  test('an escalated one too; others\' and decided ones stay', async () => {
    const agent = await anAgentOfItsOwn(1_800, 'phone.call');
    const neighbour = await anAgentOfItsOwn();
    const [escalated, decided, next] = [await asked(agent, 'phone.call'), await asked(agent, 'phone.call'), await asked(neighbour)];
    (await root.post(`/api/v1/hitl/${decided}/reject`)).expect(200);
    const before = await Promise.all([escalated, decided, next].map(timesOf));
    const stop = await stopped('agent', agent);
    await server.sql(`update stops set made_at = made_at - interval '1 second' where id = $1`, [stop]);
    await lift(stop);
    const after = await Promise.all([escalated, decided, next].map(timesOf));
    expect(after[0]!.expires).toBeGreaterThan(before[0]!.expires);
    expect(after.slice(1)).toEqual(before.slice(1));
  });
});

describe('a window that ends while it is held', () => {
  test('is still open after the resume, and ends at the moved time', async () => {
    const agent = await anAgentOfItsOwn(3);
    const [approved, left] = [await asked(agent), await asked(agent)];
    const was = await timesOf(left);
    const stop = await stopped('organization', agent);
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    for (const request of [approved, left]) expect(await requestOf(server, request)).toMatchObject({ status: 'pending' });
    await lift(stop);
    (await root.post(`/api/v1/hitl/${approved}/approve`)).expect(200);
    const { expires } = await timesOf(left);
    expect(expires - was.expires).toBeGreaterThan(3_900);
    const request = await eventually(async () => {
      const found = await requestOf(server, left);
      expect(found.status).toBe('timed_out');
      return found;
    });
    expect(Date.parse(request.decided_at!)).toBeGreaterThanOrEqual(expires);
    expect((await eventsOf(server, agent.id)).filter((event) => event === 'hitl.timed_out')).toHaveLength(1);
  });

  test('can be cancelled meanwhile: its clock stands still', async () => {
    const agent = await anAgentOfItsOwn();
    const [held, over] = [await asked(agent), await asked(agent)];
    const [stop] = await inThePast(agent, held, { created: -20, expires: -5, stops: [['agent', -10]] });
    await server.sql(`update hitl_requests set expires_at = clock_timestamp() - interval '11 minutes' where id = $1`, [over]);
    (await agent.client.post(`/api/v1/hitl/${held}/cancel`)).expect(200);
    expect(await requestOf(server, held)).toMatchObject({ status: 'cancelled', decision: { outcome: 'cancelled', by: 'human' } });
    (await agent.client.post(`/api/v1/hitl/${over}/cancel`)).expect(409, 'HITL_EXPIRED');
    await lift(stop!.id);
  });

  test.each(['clock_credited_to', 'escalated_at'])('and what it is cancelled with counts from %s on', async (column) => {
    const agent = await anAgentOfItsOwn();
    const request = await asked(agent);
    const [stop] = await inThePast(agent, request, { created: -20, expires: -5, stops: [['agent', -10]] });
    await server.sql(`update hitl_requests set ${column} = created_at + interval '13 minutes' where id = $1`, [request]);
    const before = await timesOf(request);
    (await agent.client.post(`/api/v1/hitl/${request}/cancel`)).expect(200);
    const decidedAt = Date.parse((await requestOf(server, request)).decided_at!);
    expect((await timesOf(request)).expires - before.expires).toBe(decidedAt - (before.created + 13 * MINUTE));
    await lift(stop!.id);
  });
});
