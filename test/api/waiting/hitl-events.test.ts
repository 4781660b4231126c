import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { as, asAgent, asRoot } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { openEvents, type OpenStream, type StreamTerms } from '../../support/http/event-stream.js';
import { eventually } from '../../support/running/eventually.js';
import { aPerson, anOrganization, firstOrganization, type BuiltPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { ROOT_KEY } from '../../support/servers/test-run.js';

let server: TestServer;
let agent: BuiltAgent;
const streams: OpenStream[] = [];

beforeAll(async () => {
  server = await startServer({ env: { HITL_MAX_PENDING_PER_AGENT: '1000' } });
  agent = await anAgent(server).granted('email.send', { hitlMode: 'propose' }).create();
});
afterEach(() => {
  for (const stream of streams.splice(0)) stream.close();
});
afterAll(() => server.stop());

async function follow(credential: string, terms: StreamTerms = {}): Promise<OpenStream> {
  const stream = await openEvents(server, credential, terms);
  streams.push(stream);
  return stream;
}

const SECRET = 'what nobody but the reviewer reads';
async function ask(of: BuiltAgent = agent): Promise<string> {
  const input = { capability: 'email.send', input: { secret: SECRET } };
  return (await of.client.post('/api/v1/execute', input)).expect(202).text('hitlRequestId');
}
const decide = async (id: string, how: 'approve' | 'reject' | 'cancel') =>
  (await asRoot(server).post(`/api/v1/hitl/${id}/${how}`)).expect(200);
const names = (stream: OpenStream, id: string) => stream.events.filter(({ data }) => data.id === id).map(({ event }) => event);

describe('a stream', () => {
  test('says what becomes of a request, in its order, and never what was asked', async () => {
    const stream = await follow(ROOT_KEY);
    expect(stream.status).toBe(200);
    expect(stream.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(stream.headers['cache-control']).toBe('no-cache, no-store, no-transform');
    expect(stream.headers['x-accel-buffering']).toBe('no');
    expect(stream.headers['content-encoding']).toBeUndefined();
    const approved = await ask();
    await decide(approved, 'approve');
    const rejected = await ask();
    await decide(rejected, 'reject');
    await stream.has(6, [approved, rejected]);
    expect(names(stream, approved)).toEqual(['hitl.created', 'hitl.approved', 'execution.executed']);
    expect(names(stream, rejected)).toEqual(['hitl.created', 'hitl.rejected', 'execution.cancelled']);
    const [created, decided, ended] = stream.events;
    expect(created!.data).toEqual({
      id: approved, organizationId: await firstOrganization(server), agentId: agent.id, capability: 'email.send', status: 'pending',
      escalationLevel: 0, escalatedTo: null, expiresAt: expect.any(String), executionId: expect.any(String), at: expect.any(String),
    });
    expect(decided!.data).toMatchObject({ status: 'approved' });
    expect(ended!.data).toMatchObject({ status: 'approved', executionStatus: 'executed', executionId: created!.data.executionId });
    expect(stream.text()).not.toContain(SECRET);
    expect(new Set(stream.events.map(({ id }) => id)).size).toBe(stream.events.length);
  });

  test('says what becomes of many requests at once, each of them', async () => {
    const stream = await follow(ROOT_KEY);
    const asked = await Promise.all(Array.from({ length: 30 }, () => ask()));
    await server.sql(`update hitl_requests set expires_at = clock_timestamp() - interval '1 second' where id = any ($1)`, [asked]);
    (await asRoot(server).post('/api/v1/hitl/check-timeouts')).expect(200);
    const seen = await stream.has(asked.length * 3, asked);
    for (const id of asked) {
      expect(seen.filter(({ data }) => data.id === id).map(({ event }) => event))
        .toEqual(['hitl.created', 'hitl.timed_out', 'execution.cancelled']);
    }
  });

  test('whoever changes a request tells of it: escalation, edit, reminder and vote', async () => {
    const stream = await follow(ROOT_KEY);
    const id = await ask();
    // Past the service: no path of its own, present or future, has to think of the events.
    await server.sql(
      `update hitl_requests set escalation_level = 1, status = 'escalated', escalated_at = clock_timestamp() where id = $1`, [id]);
    await server.sql(`update hitl_requests set reminded_seconds = 60 where id = $1`, [id]);
    await server.sql(`insert into hitl_votes (organization_id, request_id, version, digest, voter, entry_id, voted_at)
      select organization_id, id, version, digest, 'usr_x', 'audit_x', clock_timestamp() from hitl_requests where id = $1`, [id]);
    await server.sql(`update hitl_requests set version = version + 1, escalation_level = 2, escalated_to = 'usr_x' where id = $1`, [id]);
    await server.sql(`update hitl_requests set note = 'nothing that is told' where id = $1`, [id]);
    await decide(id, 'cancel');
    await stream.has(8, [id]);
    expect(names(stream, id)).toEqual([
      'hitl.created', 'hitl.escalated', 'hitl.reminded', 'hitl.voted', 'hitl.edited', 'hitl.escalated', 'hitl.cancelled',
      'execution.cancelled',
    ]);
    expect(stream.events.find(({ event }) => event === 'hitl.edited')!.data).toMatchObject({ escalationLevel: 2, escalatedTo: 'usr_x' });
  });

  test('an execution without a request tells nothing', async () => {
    const other = await anAgent(server).granted('web.search').create();
    (await other.client.post('/api/v1/execute', { capability: 'web.search' })).expect(200);
    expect(await server.sql('select 1 from hitl_events where agent_id = $1', [other.id])).toEqual([]);
  });

  test('HEAD is its head and no more', async () => {
    const headers = { authorization: `Bearer ${ROOT_KEY}` };
    const response = await fetch(new URL('/api/v1/hitl/events', server.url), { method: 'HEAD', headers });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  });
});

describe('everybody follows what they may read', () => {
  let elsewhere: string;
  let other: BuiltAgent;
  let sibling: BuiltAgent;
  let viewer: BuiltPerson;
  let stranger: BuiltPerson;

  beforeAll(async () => {
    elsewhere = await anOrganization(server);
    other = await anAgent(server).inOrganization(elsewhere).granted('email.send', { hitlMode: 'propose' }).create();
    sibling = await anAgent(server).granted('email.send', { hitlMode: 'propose' }).create();
    [viewer, stranger] = [await aPerson(server, 'viewer'), await aPerson(server, 'owner', { organizationId: elsewhere })];
  });

  test('live and afterwards: people their organization, agents themselves, root all of it', async () => {
    const begin = (await follow(ROOT_KEY)).lastId();
    const who = {
      root: [ROOT_KEY, {}], 'root, here': [ROOT_KEY, { organizationId: await firstOrganization(server) }],
      'root, there': [ROOT_KEY, { organization_id: elsewhere }], viewer: [viewer.key, {}], stranger: [stranger.key, {}],
      agent: [agent.token, {}], sibling: [sibling.token, {}], other: [other.token, { organizationId: elsewhere }],
    } as const;
    const live = new Map<string, OpenStream>();
    for (const [name, [key, query]] of Object.entries(who)) live.set(name, await follow(key, { query }));
    const ids: Record<string, string> = { agent: await ask(agent), sibling: await ask(sibling), other: await ask(other) };
    for (const id of Object.values(ids)) await decide(id, 'reject');
    const wanted: Record<string, string[]> = {
      root: ['agent', 'sibling', 'other'], 'root, here': ['agent', 'sibling'], 'root, there': ['other'], viewer: ['agent', 'sibling'],
      stranger: ['other'], agent: ['agent'], sibling: ['sibling'], other: ['other'],
    };
    await live.get('root')!.has(9, Object.values(ids));
    for (const [name, [key, query]] of Object.entries(who)) {
      const seen = wanted[name]!.map((whose) => ids[whose]!);
      const later = await follow(key, { query, lastEventId: begin });
      for (const stream of [live.get(name)!, later]) {
        await stream.has(seen.length * 3);
        expect([name, [...new Set(stream.events.map(({ data }) => data.id))].sort()]).toEqual([name, seen.sort()]);
        for (const id of Object.values(ids)) if (!seen.includes(id)) expect(stream.text()).not.toContain(id);
      }
      expect(later.events).toEqual(live.get(name)!.events);
    }
  });

  test('another organization is not there', async () => {
    for (const key of [viewer.key, agent.token]) {
      (await as(server, key).get('/api/v1/hitl/events', { query: { organizationId: elsewhere } })).expect(404, 'NOT_FOUND');
    }
    (await asRoot(server).get('/api/v1/hitl/events', { query: { organizationId: 'org_nothing' } })).expect(404, 'NOT_FOUND');
  });
});

describe('a stream is refused or ended', () => {
  test.each(['x', '1', '1.x', '-1.0', '1.2.3', '99999999999999999999.0'])('an id that is none: %s', async (id) => {
    for (const refused of [await asRoot(server).get('/api/v1/hitl/events', { query: { lastEventId: id } }),
      await asRoot(server).get('/api/v1/hitl/events', { headers: { 'last-event-id': id } })]) {
      refused.expect(400, 'VALIDATION_FAILED');
      expect(refused.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    }
  });

  test('64 calls of one principal are held, waits and streams together', async () => {
    const many = await anAgent(server).granted('email.send', { hitlMode: 'propose' }).create();
    const id = await ask(many);
    const waiting = asAgent(server, many.token).get(`/api/v1/hitl/${id}`, { query: { wait: 55 } });
    const open: OpenStream[] = [];
    await eventually(async () => {
      const stream = await follow(many.token);
      if (stream.status === 200) open.push(stream);
      else {
        expect([stream.status, stream.headers['retry-after'], open.length]).toEqual([429, '15', 63]);
        return;
      }
      throw new Error(`${open.length} are open`);
    }, { every: 1 });
    // Answered at once, as it stands.
    expect((await asAgent(server, many.token).get(`/api/v1/hitl/${id}`, { query: { wait: 55 } })).expect(200).at('status')).toBe('pending');
    expect((await follow(agent.token)).status).toBe(200);
    open.pop()!.close();
    await eventually(async () => expect((await follow(many.token)).status).toBe(200));
    await decide(id, 'cancel');
    (await waiting).expect(200);
  });

  test('whoever loses their credential hears no more', async () => {
    const person = await aPerson(server, 'viewer');
    const stream = await follow(person.key);
    const still = await follow(ROOT_KEY);
    await server.sql('update personal_keys set revoked_at = clock_timestamp() where id = $1', [person.keyId]);
    await eventually(() => expect(stream.isOver()).toBe(true));
    const id = await ask();
    await still.has(1, [id]);
    expect(stream.text()).not.toContain(id);
    expect((await follow(person.key)).status).toBe(401);
  });
});
