import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { asRoot, type Client } from '../../support/http/actors.js';
import { auditOf } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { anEraser, type Eraser, type Pass } from '../../support/erasure/eraser.js';
import { eventually } from '../../support/running/eventually.js';
import { defineCapability, executionBecomes, executionOf, pauseOutbox, requestOf, resumeOutbox } from '../../support/builders/gate.js';
import { aPerson, firstOrganization } from '../../support/builders/people.js';
import { aDoor } from '../../support/proofs/races.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
let receiver: Receiver;
let eraser: Eraser;
let root: Client;
let organizationId: string;
let people = 0;

beforeAll(async () => {
  [server, receiver] = await Promise.all([startServer(), startReceiver()]);
  [eraser, organizationId] = await Promise.all([anEraser(server.database), firstOrganization(server)]);
  root = asRoot(server);
  await defineCapability(server, 'crm.push', { connector: { type: 'http', method: 'POST', url: receiver.url, body: '{input}' } });
});
afterAll(async () => {
  await eraser.close();
  await server.stop();
  await receiver.close();
});

/** Somebody whom no other test knows of. */
const somebody = () => `customer${++people}@example.org`;
const erase = (...texts: string[]): Promise<Pass['counts']> => eraser.erase({ organizationId, texts }).then(({ counts }) => counts);
const proposing = (capability: string) => anAgent(server).granted(capability, { hitlMode: 'propose' }).create();

async function ask(agent: BuiltAgent, capability: string, input: object, wait = 0) {
  const reply = (await agent.client.post('/api/v1/execute', { capability, input }, { query: { wait } })).expect(202);
  return { id: reply.text('hitlRequestId'), execution: reply.text('executionId') };
}

async function approve(id: string): Promise<void> {
  const { action_digest: expectedDigest } = await requestOf(server, id);
  (await root.post(`/api/v1/hitl/${id}/approve`, { expectedDigest, note: 'fine' })).expect(200);
}

const entriesOf = async (agent: BuiltAgent, event: string) =>
  (await auditOf(server, agent.id)).filter((entry) => entry.event === event).map(({ actorId, metadata }) => ({ actorId, metadata }));

async function textOf(id: string): Promise<string> {
  const [row] = await server.sql<{ text: string }>(
    `select (select q::text from hitl_requests q where q.id = $1 or q.execution_id = $1)
       || (select e::text from executions e where e.id = $1 or e.hitl_request_id = $1) as text`, [id]);
  return row!.text;
}

describe('what waits for a person', () => {
  test('is cancelled by the system, and whoever waits for it is told', async () => {
    const [to, agent] = [somebody(), await proposing('email.send')];
    const { id, execution } = await ask(agent, 'email.send', { to, amount: 5 });
    const other = await ask(agent, 'email.send', { to: 'else@example.org' });
    const waiting = executionOf(server, execution, 50);
    expect(await erase(to)).toEqual({ requests: 1, executions: 1 });

    expect(await waiting).toMatchObject({ status: 'cancelled', input: { to: '[erased]', amount: 5 } });
    expect(await requestOf(server, id)).toMatchObject({
      status: 'cancelled', decided_by: 'system', input: { to: '[erased]', amount: 5 },
      decision: { outcome: 'cancelled', by: 'system', note: null },
    });
    expect(await entriesOf(agent, 'hitl.cancelled')).toEqual([{ actorId: 'system', metadata: { hitlId: id, reason: 'erased' } }]);
    expect(await textOf(id)).not.toContain(to);
    const [kept] = await server.sql<{ nonce: string; open: number }>(
      `select q.nonce, h.open_requests as open from hitl_requests q
       join audit_heads h on h.organization_id = q.organization_id and h.chain = q.agent_id where q.id = $1`, [id]);
    expect(kept).toEqual({ nonce: '[erased]', open: 1 });
    expect(await requestOf(server, other.id)).toMatchObject({ status: 'pending', input: { to: 'else@example.org' } });
    (await root.post(`/api/v1/hitl/${id}/approve`, {})).expect(409);
  });

  test('and what was approved with it does not begin', async () => {
    const [to, agent] = [somebody(), await proposing('crm.push')];
    await pauseOutbox(server);
    const { id, execution } = await ask(agent, 'crm.push', { to });
    await approve(id);
    const before = receiver.requests.length;
    expect(await erase(to)).toEqual({ requests: 1, executions: 1 });
    await resumeOutbox(server);

    expect(await executionBecomes(server, execution, 'cancelled')).toMatchObject({ reason: 'erased', input: { to: '[erased]' } });
    expect(await requestOf(server, id)).toMatchObject({ status: 'approved', input: { to: '[erased]' } });
    expect(await entriesOf(agent, 'execution.cancelled')).toEqual([
      { actorId: 'system', metadata: { executionId: execution, hitlId: id, reason: 'erased' } },
    ]);
    const outbox = () => server.sql(`select 1 from outbox where kind = 'execution.run'`);
    await eventually(async () => expect(await outbox()).toEqual([]));
    expect(receiver.requests).toHaveLength(before);
    expect(await textOf(id)).not.toContain(to);
  });

  test('a comment alone is erased from what was approved, which begins', async () => {
    const [name, agent] = ['Xaver Quellmalz', await proposing('crm.push')];
    await pauseOutbox(server);
    const { id, execution } = await ask(agent, 'crm.push', { to: 'nobody' });
    (await root.post(`/api/v1/hitl/${id}/approve`, { note: `as ${name} told me` })).expect(200);
    expect(await erase(name)).toEqual({ requests: 1 });
    await resumeOutbox(server);
    await executionBecomes(server, execution, 'executed');
    expect(await requestOf(server, id)).toMatchObject({ decision: { note: '[erased]' }, input: { to: 'nobody' } });
  });

  test('of an agent whose head somebody holds is waited for', async () => {
    const [to, agent] = [somebody(), await proposing('email.send')];
    const { id } = await ask(agent, 'email.send', { to });
    const holder = new pg.Client({ connectionString: server.database.url });
    await holder.connect();
    await holder.query('begin');
    await holder.query('select from audit_heads where chain = $1 for update', [agent.id]);
    const erasing = erase(to);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(await requestOf(server, id)).toMatchObject({ status: 'pending', input: { to } });
    await holder.query('rollback');
    await holder.end();
    expect(await erasing).toEqual({ requests: 1, executions: 1 });
    expect(await requestOf(server, id)).toMatchObject({ status: 'cancelled' });
  });
});

test('what runs is not stopped, and is erased from once it has ended', async () => {
  const [to, agent] = [somebody(), await proposing('crm.push')];
  const { id, execution } = await ask(agent, 'crm.push', { to });
  const before = receiver.requests.length;
  const door = aDoor();
  receiver.script({ after: door.opened, body: { sentTo: to } });
  await approve(id);
  await receiver.received(before + 1);
  expect(await erase(to)).toEqual({ leftExecutions: 1, leftRequests: 1 });
  expect(await textOf(id)).toContain(to);

  door.open();
  await executionBecomes(server, execution, 'executed', 30_000);
  expect(await erase(to)).toEqual({ requests: 1, executions: 1 });
  expect(await executionOf(server, execution)).toMatchObject({ input: { to: '[erased]' }, output: { sentTo: '[erased]' } });
  expect(await textOf(id)).not.toContain(to);
  expect(await erase(to)).toEqual({});
});

test('policy is never rewritten: it is reported until somebody has changed it', async () => {
  const to = somebody();
  const conditions = [{ when: `input.to == "${to}"`, hitlMode: 'propose' }];
  const agent = await anAgent(server).granted('email.send', { conditions }).create();
  expect(await erase(to)).toEqual({ leftGrants: 1 });
  expect((await agent.client.post('/api/v1/execute', { capability: 'email.send', input: { to: 'else' } })).expect(200).body)
    .toMatchObject({ status: 'executed' });

  await server.sql(`update capability_grants set revoked_at = clock_timestamp(), revoked_by = 'root' where agent_id = $1`, [agent.id]);
  expect(await erase(to)).toEqual({ grants: 1 });
  const [grant] = await server.sql('select conditions from capability_grants where agent_id = $1', [agent.id]);
  expect(grant).toEqual({ conditions: [{ when: '[erased]', hitlMode: 'propose' }] });
});

test('agents are decided by the tags that are left', async () => {
  const name = 'Ottokar Zimmerling';
  const conditions = [{ when: `agent.tags.exists(tag, tag == "[erased]")`, hitlMode: 'propose' }];
  const agent = await anAgent(server).named(`of ${name}`).tagged('kept', name).granted('email.send', { conditions }).create();
  const execute = () => agent.client.post('/api/v1/execute', { capability: 'email.send', input: {} });
  (await execute()).expect(200);
  expect(await erase(name)).toMatchObject({ agents: 1 });
  (await execute()).expect(202);
  expect((await root.get(`/api/v1/agents/${agent.id}`)).expect(200).at('agent'))
    .toMatchObject({ name: '[erased]', tags: ['kept', '[erased]'] });
});

test('a person is told what is theirs, and of nobody else; erased, they are nobody', async () => {
  const person = await aPerson(server, 'admin', { name: 'Klothilde Vogelsang' });
  const other = await aPerson(server, 'admin', { name: 'Eusebius Trautwein' });
  const agent = await proposing('email.send');
  for (const [{ client }, note] of [[person, 'mine'], [other, 'of the other']] as const) {
    const { id } = await ask(agent, 'email.send', { to: 'a secret of others' });
    (await client.post(`/api/v1/hitl/${id}/reject`, { note })).expect(200);
  }
  const known = await eraser.about(organizationId, person.id);
  expect(known).toMatchObject({
    organizations: {
      account: { id: person.id, email: person.email, name: 'Klothilde Vogelsang', role: 'admin' }, keys: [{ id: person.keyId }],
    },
    hitl: { decided: [{ outcome: 'rejected', note: 'mine' }], edited: [], votes: [] },
    teams: { memberships: [] }, executions: { settled: [], requested: [] }, platform: {},
  });
  expect(JSON.stringify(known)).not.toMatch(/of the other|secret of others|Trautwein/);

  (await person.client.get('/api/v1/users/me')).expect(200);
  // Of how many requests they were told by now is nothing to wait for.
  const { counts: { notifications: _, ...counts } } = await eraser.erase({ organizationId, userId: person.id, texts: [] });
  expect(counts).toEqual({ profiles: 1, keys: 1, requests: 1 });
  (await person.client.get('/api/v1/users/me')).expect(401);
  const notes = await server.sql<{ note: string }>('select note from hitl_requests where agent_id = $1 order by id', [agent.id]);
  expect(notes.map(({ note }) => note)).toEqual(['[erased]', 'of the other']);
  expect((await root.get(`/api/v1/users/${person.id}`)).expect(200).at('user'))
    .toMatchObject({ id: person.id, email: null, name: null, avatarUrl: null, status: 'erased' });
});
