import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { anAgent, type GrantTerms } from '../../support/builders/agents.js';
import { aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { anonymous, as, asRoot, type Client } from '../../support/http/actors.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { holdAgainstDocument } from '../../support/http/held-answer.js';
import { calledOperations } from '../../support/routes/documented-answers.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

// A story in which the answers are told apart by what happened. Each is held against the document, as in all tests: nothing that the
// document does not name, nothing missing that it promises.

const V1 = '/api/v1';

let server: TestServer;
let receiver: Receiver;
const answers = calledOperations();
let root: Client;
let people: Readonly<Record<'admin' | 'colleague', BuiltPerson>>;

beforeAll(async () => {
  [server, receiver] = await Promise.all([startServer(), startReceiver()]);
  root = answers.of(asRoot(server));
  people = { admin: await aPerson(server, 'admin'), colleague: await aPerson(server, 'admin') };
});

afterAll(async () => {
  await server.stop();
  await receiver.close();
});

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const keyed = (key: string) => ({ headers: { 'idempotency-key': key, traceparent: TRACE } });
const by = ({ key }: BuiltPerson) => answers.of(as(server, key));

async function agentWith(...grants: [capability: string, terms: GrantTerms][]): Promise<Client & { id: string }> {
  const built = grants.reduce((builder, [capability, terms]) => builder.granted(capability, terms), anAgent(server));
  const { id, client } = await built.create();
  return { ...answers.of(client), id };
}

function wereCalled(...ids: string[]): void {
  expect([...answers.called]).toEqual(expect.arrayContaining(ids));
}

async function digestOf(id: string): Promise<string> {
  return (await root.get(`${V1}/hitl/${id}`)).expect(200).text('action_digest');
}

test('what the document does not have is found', () => {
  const stop = { id: 'stp_1', scope: 'all', reason: 'odd', madeBy: 'root', madeAt: '2026-11-26T10:00:00.000Z' };
  const hold = (status: number, body: unknown, type = 'application/json') => {
    const headers = new Headers({ 'content-type': `${type}; charset=utf-8` });
    return holdAgainstDocument('get', `${V1}/stops/stp_1?x=1`, { status, body, headers });
  };
  const problem = { type: '/docs/errors', title: 't', status: 404, detail: 'd', instance: '/', code: 'NOT_FOUND', requestId: 'r' };
  expect(hold(404, problem, 'application/problem+json')).toEqual({ operation: 'stops.get' });
  expect(hold(200, { stop })).toEqual({ operation: 'stops.get' });
  expect(() => hold(200, { stop: { ...stop, more: 1 } })).toThrow(/stops\.get answered 200: \/stop .*"more"/);
  expect(() => hold(200, { stop: { ...stop, reason: undefined } })).toThrow(/'reason'/);
  expect(() => hold(200, { stop: { ...stop, madeAt: 'today' } })).toThrow(/date-time/);
  expect(() => hold(200, { stop }, 'text/html')).toThrow('as text/html');
  expect(() => hold(418, { stop })).toThrow('answered 418');
  expect(() => hold(404, { ...problem, code: 'CONFLICT' }, 'application/problem+json')).toThrow('answered 404 CONFLICT');
  expect(holdAgainstDocument('get', '/nowhere', { status: 200, body: 1, headers: new Headers() })).toEqual({ operation: undefined });
});

test('agents, their keys, tokens and grants', async () => {
  const body = {
    name: 'mailer', description: 'sends mail', riskLevel: 'high', tags: ['eu'], metadata: { any: [1, null] }, ownerId: people.admin.id,
    grants: [{
      capability: 'email.send', hitlMode: 'on_risk', conditions: [{ when: 'input.amount > 100', hitlMode: 'escalate', reason: 'large' }],
      limits: [{ max: 2, per: 'hour', then: 'propose' }, { max: 5, per: 'day', sum: 'input.amount', then: 'block' }],
      reminders: [{ secondsBefore: 60, escalate: true }], quorum: { approvals: 2, groups: [{ role: 'admin' }] },
    }],
  };
  const made = (await root.post(`${V1}/agents`, body, keyed('agent'))).expect(201);
  (await root.post(`${V1}/agents`, body, keyed('agent'))).expect(201);
  const path = `${V1}/agents/${made.text('agent.id')}`;
  (await root.get(path)).expect(200);
  (await root.patch(path, { description: null })).expect(200);
  (await root.get(`${V1}/agents?limit=1`)).expect(200);
  (await root.post(`${path}/capabilities`, { capability: 'finance.transfer', hitl_mode: 'auto' })).expect(201);
  (await root.get(`${path}/capabilities`)).expect(200);
  (await root.get(`${V1}/capabilities/grants?capability=email.send`)).expect(200);
  (await root.post(`${path}/keys`, { name: 'ci' }, keyed('key'))).expect(201);
  (await root.post(`${path}/keys`, { name: 'ci' }, keyed('key'))).expect(201);
  (await root.get(`${path}/keys`)).expect(200);
  (await root.post(`${path}/token`)).expect(200);
  (await root.post(`${path}/setup-token`)).expect(201);
  (await root.post(`${path}/deactivate`, { reason: 'over' })).expect(200);
  (await root.get(`${V1}/agents/agt_nobody`)).expect(404);
  (await root.post(`${V1}/agents`, { nome: 'x' })).expect(400);
  wereCalled('agents.register 201', 'grants.createForAgent 201', 'grants.list 200', 'agentKeys.create 201', 'nodes.issueSetupToken 201');
});

test('the gate, in each of its answers', async () => {
  const connector = {
    type: 'http', method: 'POST', url: `${receiver.url}/{input.to}`, query: { n: 1 }, headers: { 'x-a': 'b' }, body: '{input}',
  };
  const inputSchema = { type: 'object', required: ['to'] };
  (await root.post(`${V1}/capabilities`, { name: 'crm.push', description: 'pushes', connector, inputSchema })).expect(201);
  (await root.get(`${V1}/capabilities`)).expect(200);
  const agent = await agentWith(['crm.push', {}], ['web.search', {}], ['file.read', { hitlMode: 'block' }],
    ['email.send', { hitlMode: 'propose', reminders: [{ secondsBefore: 5 }] }],
    ['data.query', { limits: [{ max: 1, per: 'hour', then: 'propose' }] }]);
  const call = (capability: string, input: object = {}, more: object = {}, options = {}) =>
    agent.post(`${V1}/execute`, { capability, input, context: { task_id: 't' }, action: 'Do', ...more }, options);
  const ran = (await call('crm.push', { to: 'x' }, {}, keyed('ran'))).expect(200);
  (await call('crm.push', { to: 'x' }, {}, keyed('ran'))).expect(200);
  receiver.script({ status: 422, body: { no: 1 } }, { reset: true });
  (await call('crm.push', { to: 'x' })).expect(200);
  const lost = (await call('crm.push', { to: 'x' })).expect(200);
  expect(lost.at('indeterminate')).toBe(true);
  const did = (await call('web.search')).expect(200);
  (await call('file.read')).expect(200);
  (await call('data.query')).expect(200);
  (await call('data.query')).expect(202);
  (await call('data.query', {}, { dryRun: true })).expect(200);
  (await call('phone.call', {}, { dryRun: true })).expect(200);
  (await call('phone.call')).expect(403);
  (await call('crm.push')).expect(422);
  const asked = (await call('email.send', {}, {}, keyed('asked'))).expect(202);
  (await root.post(`${V1}/executions/${asked.text('executionId')}/cancel`, { note: 'no more' })).expect(200);
  expect((await call('email.send', {}, {}, keyed('asked'))).expect(200).at('status')).toBe('cancelled');
  const report = { outcome: 'success', output: [1], durationMs: 3 };
  (await agent.post(`${V1}/executions/${did.text('executionId')}/report`, report)).expect(200);
  (await root.post(`${V1}/executions/${lost.text('executionId')}/settle`, { outcome: 'failure', note: 'asked them' })).expect(200);
  (await root.get(`${V1}/executions`)).expect(200);
  (await root.get(`${V1}/executions/${ran.text('executionId')}`)).expect(200);
  wereCalled('executions.execute 200', 'executions.execute 202', 'executions.execute 403', 'executions.execute 422',
    'executions.cancel 200', 'executions.report 200', 'executions.settle 200', 'capabilities.define 201');
});

test('requests in either form, and each way in which they end', async () => {
  const quorum = { approvals: 2, groups: [{ role: 'admin' }] };
  const agent = await agentWith(['email.send', { hitlMode: 'propose', quorum, reminders: [{ secondsBefore: 5, escalate: true }] }],
    ['file.write', { hitlMode: 'propose' }], ['data.write', { hitlMode: 'escalate' }]);
  const ask = async (capability: string, context: object = {}) =>
    (await agent.post(`${V1}/hitl`, { capability, payload: { amount: 1 }, context })).expect(201).text('request.id');
  const execute = async (capability: string) =>
    (await agent.post(`${V1}/execute`, { capability, input: { amount: 1 } })).expect(202).text('hitlRequestId');
  const [voted, edited, rejected, escalated, cancelled, timedOut] = [
    await execute('email.send'), await execute('file.write'), await ask('file.write'), await ask('file.write'),
    await ask('data.write', { on_behalf_of: 'ada@example.test' }), await ask('file.write'),
  ];
  const [one, other] = [by(people.admin), by(people.colleague)];
  (await one.post(`${V1}/hitl/${voted}/approve`, { note: 'fine', expectedDigest: await digestOf(voted) })).expect(200);
  (await other.post(`${V1}/hitl/${voted}/approve?form=snake`, { expectedDigest: await digestOf(voted) })).expect(200);
  (await one.post(`${V1}/hitl/${edited}/approve`, { editedInput: { amount: 2, more: [true] } })).expect(200);
  (await one.post(`${V1}/hitl/${rejected}/reject?form=snake`, { note: 'no' })).expect(200);
  (await one.post(`${V1}/hitl/${escalated}/escalate`, { reason: 'above me' })).expect(200);
  (await one.post(`${V1}/hitl/${escalated}/escalate?form=camel`, { reason: 'above me, too' })).expect(200);
  (await root.post(`${V1}/hitl/${cancelled}/cancel`, {})).expect(200);
  (await root.post(`${V1}/hitl/${timedOut}/timeout`, {})).expect(200);
  (await one.post(`${V1}/hitl/${rejected}/approve`, {})).expect(409);
  for (const form of ['snake', 'camel']) {
    expect((await root.get(`${V1}/hitl?form=${form}`)).expect(200).list('requests').length).toBeGreaterThan(5);
    for (const id of [voted, edited, rejected, escalated, cancelled, timedOut]) {
      (await root.get(`${V1}/hitl/${id}?form=${form}`)).expect(200);
    }
    const item = await ask('file.write');
    const items = [{ id: item, expectedDigest: await digestOf(item) }, { id: rejected, expectedDigest: 'a'.repeat(64) }];
    (await one.post(`${V1}/hitl/batch?form=${form}`, { items, decision: 'reject' })).expect(200);
  }
  (await root.post(`${V1}/hitl/check-timeouts`)).expect(200);
  (await root.get(`${V1}/hitl/stats`)).expect(200);
  wereCalled('hitl.create 201', 'hitl.approve 200', 'hitl.approve 409', 'hitl.reject 200', 'hitl.escalate 200', 'hitl.timeout 200',
    'hitl.list 200', 'hitl.get 200', 'hitl.decideBatch 200', 'hitl.stats 200', 'hitl.checkTimeouts 200');
});

test('the log', async () => {
  const entries = (await root.get(`${V1}/audit?limit=500`)).expect(200).list('entries') as { id: string }[];
  (await root.get(`${V1}/audit/${entries.at(-1)!.id}`)).expect(200);
  (await root.get(`${V1}/audit/verify`)).expect(200);
  (await root.get(`${V1}/audit/keys`)).expect(200);
  (await root.get(`${V1}/audit/checkpoints`)).expect(200);
  (await root.get(`${V1}/audit/${entries.at(-1)!.id}/proof`)).expect(200);
  (await root.post(`${V1}/audit/erasures`, { values: ['ada@example.test'], reason: 'asked', dryRun: true })).expect(200);
  (await root.get(`${V1}/audit/erasures`)).expect(200);
  wereCalled('audit.list 200', 'audit.proof 200', 'audit.verify 200', 'erasures.create 200');
});

test('people, teams, organizations and stops', async () => {
  (await root.get(`${V1}/users`)).expect(200);
  (await root.post(`${V1}/users`, { email: 'new@example.test', role: 'viewer' })).expect(201);
  (await by(people.admin).get(`${V1}/users/me`)).expect(200);
  (await by(people.admin).get(`${V1}/auth/me`)).expect(200);
  (await root.post(`${V1}/users/${people.admin.id}/keys`, { name: 'hers' }, keyed('personal'))).expect(201);
  (await root.get(`${V1}/users/${people.admin.id}/keys`)).expect(200);
  (await root.post(`${V1}/users/invitations`, { email: 'invited@example.test', role: 'viewer' })).expect(201);
  (await root.get(`${V1}/users/invitations`)).expect(200);
  const team = (await root.post(`${V1}/teams`, { name: 'Ops' })).expect(201).text('team.id');
  (await root.post(`${V1}/teams/${team}/members`, { userId: people.admin.id, role: 'lead' })).expect(201);
  (await root.get(`${V1}/teams/${team}`)).expect(200);
  (await root.get(`${V1}/teams`)).expect(200);
  (await root.get(`${V1}/organizations`)).expect(200);
  const { id } = await agentWith();
  const stop = (await root.post(`${V1}/stops`, { scope: 'agent', id, reason: 'odd' })).expect(201).text('stop.id');
  (await root.get(`${V1}/stops/${stop}`)).expect(200);
  (await root.delete(`${V1}/stops/${stop}`)).expect(204);
  (await root.get(`${V1}/stops`)).expect(200);
  (await root.delete(`${V1}/users/${people.colleague.id}/data`)).expect(200);
  const anybody = answers.of(anonymous(server));
  (await anybody.get('/health')).expect(200);
  (await anybody.get('/health/ready')).expect(200);
  (await anybody.get('/version')).expect(200);
  (await anybody.get(`${V1}/agents`)).expect(401);
  wereCalled('users.create 201', 'auth.me 200', 'teams.addMember 201', 'stops.lift 204', 'users.eraseData 200', 'health.ready 200');
});
