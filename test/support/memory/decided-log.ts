import { randomBytes } from 'node:crypto';
import { as, asAgent, asRoot, type Client, type Reply } from '../http/actors.js';
import { anAgent, type BuiltAgent, type GrantTerms } from '../builders/agents.js';
import { eventually } from '../running/eventually.js';
import { executionBecomes, requestOf } from '../builders/gate.js';
import type { Receiver } from '../http/receiver.js';
import type { TestServer } from '../servers/server.js';

/** Somebody whom the log knows: made by the API, as everything here. */
export interface Known {
  readonly id: string;
  readonly client: Client;
}

export interface DecidedLog {
  readonly organizationId: string;
  readonly owner: Known;
  readonly admin: Known;
  readonly lead: Known;
  readonly member: Known;
  readonly teamId: string;
  /** A mailer of the team, with grants in every mode. */
  readonly agent: BuiltAgent;
  readonly ask: (capability: string, input?: object, more?: object) => Promise<Asked>;
}

export interface Asked {
  readonly executionId: string;
  readonly requestId: string;
  readonly reply: Reply;
}

export async function known(server: TestServer, role: string, organizationId?: string): Promise<Known> {
  const root = asRoot(server);
  const email = `${role}-${randomBytes(6).toString('hex')}@example.test`;
  const body = { email, role, ...(organizationId === undefined ? {} : { organizationId }) };
  const id = (await root.post('/api/v1/users', body)).expect(201).text('user.id');
  const key = (await root.post(`/api/v1/users/${id}/keys`, { name: 'story' })).expect(201);
  const secret = JSON.stringify(key.body).match(/svc_user_[0-9a-f]+/)![0];
  return { id, client: as(server, secret) };
}

/** People, a team and an agent with grants of each mode, all of it told by the log. */
export async function aDecidedLog(server: TestServer, receiver: Receiver): Promise<DecidedLog> {
  const root = asRoot(server);
  const organizationId = (await root.post('/api/v1/organizations', { name: 'Story' })).expect(201).text('organization.id');
  const [owner, admin, lead, member] = await Promise.all(
    ['owner', 'admin', 'member', 'member'].map((role) => known(server, role, organizationId)));
  const teamId = (await admin!.client.post('/api/v1/teams', { name: 'mail' })).expect(201).text('team.id');
  for (const [person, role] of [[lead, 'lead'], [member, 'member']] as const) {
    (await admin!.client.post(`/api/v1/teams/${teamId}/members`, { userId: person!.id, role })).expect(201);
  }
  (await admin!.client.post('/api/v1/capabilities', {
    name: 'crm.push', description: 'pushes', defaultHitlMode: 'auto',
    connector: { type: 'http', method: 'POST', url: receiver.url, body: '{input}' },
  })).expect(201);
  const grant = (capability: string, terms: GrantTerms) => [capability, terms] as const;
  const grants = [
    grant('web.search', { hitlMode: 'auto', conditions: [{ when: 'input.q == "secret"', hitlMode: 'propose', reason: 'secret' }] }),
    grant('calendar.write', { hitlMode: 'notify' }), grant('email.send', { hitlMode: 'propose', hitlTimeoutSeconds: 600 }),
    grant('file.delete', { hitlMode: 'block' }), grant('phone.call', { hitlMode: 'auto' }), grant('crm.push', { hitlMode: 'propose' }),
    grant('data.write', { hitlMode: 'propose', quorum: { approvals: 2, groups: [{ role: 'admin' }] } }),
    grant('web.post', { hitlMode: 'propose', hitlTimeoutSeconds: 1, hitlTimeoutAction: 'approve' }),
    grant('code.execute', { hitlMode: 'propose', hitlTimeoutSeconds: 1, hitlTimeoutAction: 'escalate' }),
    grant('db:mutate', { hitlMode: 'on_risk', limits: [{ max: 2, per: 'total', then: 'propose' }] }),
    grant('agent.spawn', { hitlMode: 'propose', hitlTimeoutSeconds: 1, hitlTimeoutAction: 'notify_only' }),
  ];
  let building = anAgent(server).inOrganization(organizationId).tagged('eu').having({ teamId, ownerId: member!.id });
  for (const [capability, terms] of grants) building = building.granted(capability, terms);
  const agent = await building.create();
  const ask = async (capability: string, input: object = {}, more: object = {}): Promise<Asked> => {
    const reply = (await agent.client.post('/api/v1/execute', { capability, input, ...more })).expect(202);
    return { reply, ...idsIn(reply) };
  };
  return { organizationId, owner: owner!, admin: admin!, lead: lead!, member: member!, teamId, agent, ask };
}

function idsIn({ body }: Reply): { executionId: string; requestId: string } {
  const text = JSON.stringify(body);
  return { executionId: text.match(/exec_[0-9a-z]+/)![0], requestId: text.match(/hitl_[0-9a-z]+/)![0] };
}

export const decide = (by: Known, { requestId }: Pick<Asked, 'requestId'>, word: string, body: object = {}): Promise<Reply> =>
  by.client.post(`/api/v1/hitl/${requestId}/${word}`, body, word === 'approve' ? { query: { wait: 5 } } : {});
/** An approval that others have to join: nothing ends by it, so there is nothing to wait for. */
const vote = (by: Known, { requestId }: Asked, body: object = {}): Promise<Reply> =>
  by.client.post(`/api/v1/hitl/${requestId}/approve`, body, { query: { wait: 0 } });

/** Everything that can become of a call, once at least. */
export async function recordedInFull(server: TestServer, story: DecidedLog): Promise<void> {
  const { agent, ask, admin, lead, member, owner } = story;
  const run = (capability: string, input: object = {}) => agent.client.post('/api/v1/execute', { capability, input });
  const searched = (await run('web.search', { q: 'steel' })).expect(200);
  const recorded = { outcome: 'success', output: { sent: true }, durationMs: 5 };
  (await agent.client.post(`/api/v1/executions/${searched.text('executionId')}/report`, recorded)).expect(200);
  (await run('calendar.write')).expect(200);
  expectBlocked(await run('file.delete'));
  (await run('file.read')).expect(403);
  (await decide(lead, await ask('web.search', { q: 'secret' }), 'approve')).expect(200);
  (await decide(member, await ask('email.send', { to: 'ann' }), 'approve', { note: 'fine' })).expect(200);
  (await decide(lead, await ask('email.send', { to: 'bob' }), 'reject')).expect(200);
  (await decide(admin, await ask('phone.call', { number: '1' }), 'approve')).expect(200);
  const pushed = await ask('crm.push', { n: 1 });
  (await decide(lead, pushed, 'approve')).expect(200);
  await executionBecomes(server, pushed.executionId, 'executed');
  await severalPeople(server, story);
  await timedOut(server, story);
  for (let i = 0; i < 2; i++) (await run('db:mutate')).expect(200);
  (await decide(lead, await ask('db:mutate'), 'approve')).expect(200);
  const named = await ask('email.send', { to: 'cy' }, { context: { on_behalf_of: admin.id } });
  (await decide(admin, named, 'approve')).expect(403);
  (await decide(owner, named, 'approve')).expect(200);
  const handed = await ask('email.send', { to: 'dan' });
  (await decide(member, handed, 'escalate', { reason: 'unsure' })).expect(200);
  (await decide(lead, handed, 'approve')).expect(200);
  (await agent.client.post(`/api/v1/hitl/${(await ask('email.send')).requestId}/cancel`)).expect(200);
  await governed(server, story);
}

async function severalPeople(server: TestServer, { ask, admin, lead, owner, member }: DecidedLog): Promise<void> {
  const many = await ask('data.write', { row: 1 });
  (await vote(lead, many)).expect(200);
  (await decide(admin, many, 'approve')).expect(200);
  const alone = await ask('data.write', { row: 2 });
  (await decide(owner, alone, 'approve', { breakGlass: true, note: 'the plant is on fire' })).expect(200);
  // Edited and approved along; edited where several have to look, who then vote anew.
  (await decide(member, await ask('email.send', { to: 'eve' }), 'approve', { editedInput: { to: 'fay' } })).expect(200);
  const edited = await ask('data.write', { row: 3 });
  (await vote(lead, edited)).expect(200);
  (await vote(member, edited, { editedInput: { row: 4 } })).expect(200);
  const { action_digest: expectedDigest } = await requestOf(server, edited.requestId);
  (await vote(lead, edited, { expectedDigest })).expect(200);
  (await decide(admin, edited, 'approve', { expectedDigest })).expect(200);
}

async function timedOut(server: TestServer, { ask, admin }: DecidedLog): Promise<void> {
  const [byTime, escalated, noted] = [await ask('web.post'), await ask('code.execute'), await ask('agent.spawn')];
  const becomes = (id: string, status: string) => eventually(async () => {
    const request = await requestOf(server, id);
    if (request.status !== status) throw new Error(`it is ${request.status}`);
  });
  await becomes(byTime.requestId, 'approved');
  await becomes(escalated.requestId, 'escalated');
  await becomes(noted.requestId, 'timed_out');
  (await decide(admin, await ask('email.send', { to: 'gil' }), 'timeout')).expect(200);
}

/** What is allowed changes: grants, definitions, risk, stops, tokens, team, place. */
async function governed(server: TestServer, { ask, agent, admin, lead, teamId, organizationId }: DecidedLog): Promise<void> {
  const root = asRoot(server);
  const waiting = await ask('email.send', { to: 'hal' });
  (await root.post('/api/v1/capabilities/grant', { agentId: agent.id, capability: 'email.send', hitlMode: 'escalate' })).expect(200);
  await decide(lead, waiting, 'approve');
  (await decide(admin, waiting, 'approve')).expect(200);
  const stop = (await admin.client.post('/api/v1/stops', { scope: 'organization', id: organizationId, reason: 'a drill' })).expect(201);
  (await agent.client.post('/api/v1/execute', { capability: 'web.search' })).expect(403, 'STOPPED');
  (await admin.client.delete(`/api/v1/stops/${stop.text('stop.id')}`)).expect(204);
  (await agent.client.post('/api/v1/execute', { capability: 'web.search' })).expect(202);
  (await root.patch(`/api/v1/agents/${agent.id}/risk-level`, { riskLevel: 'high' })).expect(200);
  const shared = { teamId, capability: 'file.read', hitlMode: 'auto' };
  (await admin.client.post('/api/v1/capabilities/grant', shared)).expect(201);
  const renewed = asAgent(server, (await root.post(`/api/v1/agents/${agent.id}/token`)).expect(200).text('token'));
  (await renewed.post('/api/v1/execute', { capability: 'file.read', input: { path: '/' } })).expect(200);
  (await root.post('/api/v1/execute', { capability: 'file.read', agentId: agent.id })).expect(200);
  const removed = await anAgent(server).inOrganization(organizationId).granted('email.send', { hitlMode: 'propose' }).create();
  (await removed.client.post('/api/v1/execute', { capability: 'email.send' })).expect(202);
  (await root.delete(`/api/v1/agents/${removed.id}`)).expect(204);
  const abroad = (await root.post('/api/v1/organizations', { name: 'Abroad' })).expect(201).text('organization.id');
  const moved = await anAgent(server).inOrganization(organizationId).risk('high').granted('email.send', { hitlMode: 'on_risk' }).create();
  (await moved.client.post('/api/v1/execute', { capability: 'email.send' })).expect(202);
  (await root.post(`/api/v1/agents/${moved.id}/transfer`, { organizationId: abroad })).expect(200);
  (await root.post('/api/v1/capabilities/grant', { agentId: moved.id, capability: 'data.query', hitlMode: 'on_risk' })).expect(201);
  const there = asAgent(server, (await root.post(`/api/v1/agents/${moved.id}/token`)).expect(200).text('token'));
  (await there.post('/api/v1/execute', { capability: 'data.query' })).expect(202);
}

function expectBlocked(reply: Reply): void {
  if (!JSON.stringify(reply.body).includes('blocked')) throw new Error(`was not blocked: ${JSON.stringify(reply.body)}`);
}

