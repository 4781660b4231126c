import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AuditEvent } from '../../../src/domain/audit/catalogue/audit-events.js';
import { agentChain } from '../../../src/domain/audit/entry/chain.js';
import type { RecordedEvent } from '../../../src/domain/audit/entry/prepare-entry.js';
import { definitionDigest } from '../../../src/domain/gate/definition-digest.js';
import { newId } from '../../../src/domain/ids.js';
import { runLogRetention } from '../../../src/modules/audit/retention/run-retention.js';
import { asRoot, type Client } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent, type GrantTerms } from '../../support/builders/agents.js';
import { forge } from '../../support/log/forged-entry.js';
import { decide, known, type Known } from '../../support/memory/decided-log.js';
import { aged, archiveFolder, swept, sweepConfig } from '../../support/retention/retention.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { transferred, welcomed } from '../../support/builders/transfers.js';
import { restingOnNow } from '../../support/log/resting-on.js';
import { verifiedLog } from '../../support/log/verified-log.js';

// Honest work after a sweep, of people and stops that are older than it: nobody is called wrong for it; forgeries still are.

let server: TestServer;
let root: Client;
let archive: string;

beforeAll(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  root = asRoot(server);
  archive = await archiveFolder();
});
afterAll(() => server.stop());

async function anOrganization(): Promise<string> {
  return (await root.post('/api/v1/organizations', { name: 'Swept' })).expect(201).text('organization.id');
}

/** Two admins, a lead and a member of a team, and a stop of another organization, of all of whom nothing is left. */
async function aScenario() {
  const organizationId = await anOrganization();
  const [admin, other, lead, member] = await Promise.all(
    ['admin', 'admin', 'member', 'member'].map((role) => known(server, role, organizationId)));
  const teamId = (await admin!.client.post('/api/v1/teams', { name: 'mail' })).expect(201).text('team.id');
  for (const [{ id }, role] of [[lead!, 'lead'], [member!, 'member']] as const) {
    (await admin!.client.post(`/api/v1/teams/${teamId}/members`, { userId: id, role })).expect(201);
  }
  const veteran = await anAgent(server).inOrganization(organizationId).granted('web.search').granted('email.send', { hitlMode: 'propose' })
    .granted('finance.transfer').create();
  const stopped = await anOrganization();
  const made = await root.post('/api/v1/stops', { scope: 'organization', id: stopped, reason: 'a long one' });
  const stop = made.expect(201).text('stop.id');
  await aged(server.database);
  await swept(server.database, archive);
  return { organizationId, other: other!, lead: lead!, member: member!, teamId, veteran, stopped, stop };
}

const mailer = (organizationId: string, terms: GrantTerms = {}, more: object = {}) =>
  anAgent(server).inOrganization(organizationId).having({ ...more }).granted('email.send', { hitlMode: 'propose', ...terms }).create();

async function asks({ client }: BuiltAgent): Promise<{ requestId: string }> {
  return { requestId: (await client.post('/api/v1/execute', { capability: 'email.send', input: {} })).expect(202).text('hitlRequestId') };
}

const votes = async ({ client }: Known, { requestId }: { requestId: string }) =>
  (await client.post(`/api/v1/hitl/${requestId}/approve`, {}, { query: { wait: 0 } })).expect(200);

const resting = (organizationId: string, event: AuditEvent, by: string) => restingOnNow(
  (sql, parameters) => server.sql<Record<string, unknown>>(sql, parameters), organizationId, event, by);

async function judged(): Promise<{ breaks: string[]; swept: number }> {
  const { breaks, members } = await verifiedLog(server.database.url);
  const { notReplayable } = members['replay'] as { notReplayable: { swept?: number } };
  return { breaks: breaks.map(({ kind, detail }) => `${kind}: ${detail}`), swept: notReplayable.swept ?? 0 };
}

describe('after a sweep', () => {
  let scenario: Awaited<ReturnType<typeof aScenario>>;
  beforeAll(async () => {
    scenario = await aScenario();
  });

  /** Nothing is wrong, and so many decisions more rest on what is gone. */
  async function expectUnknown(more: number, act: () => Promise<unknown>): Promise<void> {
    const before = (await judged()).swept;
    await act();
    expect(await judged()).toEqual({ breaks: [], swept: before + more });
  }

  test('an old hand votes, a new one decides: neither the vote nor what it led to', () => expectUnknown(2, async () => {
    const fresh = await known(server, 'admin', scenario.organizationId);
    const request = await asks(await mailer(scenario.organizationId, { quorum: { approvals: 2 } }));
    await votes(scenario.other, request);
    (await decide(fresh, request, 'approve')).expect(200);
  }));

  test('an admin moves to another address, then approves', () => expectUnknown(1, async () => {
    (await root.patch(`/api/v1/users/${scenario.other.id}`, { email: 'moved@example.test' })).expect(200);
    (await decide(scenario.other, await asks(await mailer(scenario.organizationId)), 'approve')).expect(200);
  }));

  test('a lead changes their name, then approves', () => expectUnknown(1, async () => {
    (await root.patch(`/api/v1/users/${scenario.lead.id}`, { name: 'Married Name' })).expect(200);
    const asked = await asks(await mailer(scenario.organizationId, {}, { teamId: scenario.teamId }));
    (await decide(scenario.lead, asked, 'approve')).expect(200);
  }));

  test('a quorum with a team whose member joined before', () => expectUnknown(1, async () => {
    const { organizationId, teamId, member } = scenario;
    (await root.patch(`/api/v1/users/${member.id}`, { role: 'admin' })).expect(200);
    const fresh = await known(server, 'admin', organizationId);
    const request = await asks(await mailer(organizationId, { quorum: { approvals: 2, groups: [{ teamId }] } }, { teamId }));
    await votes(member, request);
    (await decide(fresh, request, 'approve')).expect(200);
  }));

  test('an owner who changed their name breaks the glass', async () => {
    const owner = await known(server, 'owner', scenario.organizationId);
    const before = (await judged()).swept;
    (await root.patch(`/api/v1/users/${owner.id}`, { name: 'Owner' })).expect(200);
    const request = await asks(await mailer(scenario.organizationId, { quorum: { approvals: 2 } }));
    (await decide(owner, request, 'approve', { breakGlass: true, note: 'the plant is on fire' })).expect(200);
    // Their account was made after the sweep: all of it is known.
    expect(await judged()).toEqual({ breaks: [], swept: before });
  });

  test('a stop from before holds a new agent; once it is lifted, the log tells that it was', () => expectUnknown(0, async () => {
    const before = (await judged()).swept;
    const agent = await anAgent(server).inOrganization(scenario.stopped).granted('web.search').create();
    (await agent.client.post('/api/v1/execute', { capability: 'web.search', input: {} })).expect(403, 'STOPPED');
    expect(await judged()).toEqual({ breaks: [], swept: before + 1 });
    (await root.delete(`/api/v1/stops/${scenario.stop}`)).expect(204);
    (await agent.client.post('/api/v1/execute', { capability: 'web.search', input: {} })).expect(200);
  }));

  test('an agent from before goes on', () => expectUnknown(4, async () => {
    const { veteran, other } = scenario;
    (await veteran.client.post('/api/v1/execute', { capability: 'web.search', input: {} })).expect(200);
    (await decide(other, await asks(veteran), 'approve')).expect(200);
  }));

  test('a forged transfer of money by an agent from before is found', async () => {
    const { organizationId, veteran } = scenario;
    const metadata = { executionId: newId('exec'), definition: definitionDigest({}), grantVersion: 1, input: {}, reasons: [] };
    const begun = { type: 'execution.started', capability: 'finance.transfer', metadata } as const;
    await forge(server.database, [{
      chain: agentChain(organizationId, veteran.id), agentId: veteran.id, ...(await resting(organizationId, begun, veteran.id)),
    } as RecordedEvent, { id: newId('audit'), actorId: veteran.id, timestamp: new Date() }]);
    const { breaks } = await judged();
    expect(breaks.filter((one) => one.startsWith('gate_wrong'))).toEqual([
      expect.stringMatching(/\(execution\.started\): the gate asks a person first \(escalate\)$/),
    ]);
  });

  test('a forged approval by a viewer who came after it is found', async () => {
    const { organizationId } = scenario;
    const viewer = await known(server, 'viewer', organizationId);
    const agent = await mailer(organizationId);
    const grants = (await root.get(`/api/v1/agents/${agent.id}/capabilities`)).expect(200).list('grants') as { id: string }[];
    const hitlId = newId('hitl');
    const chain = { chain: agentChain(organizationId, agent.id), agentId: agent.id } as const;
    const asked = {
      type: 'hitl.created', capability: 'email.send',
      metadata: {
        hitlId, capability: 'email.send', input: {}, hitlMode: 'propose', expiresAt: new Date(Date.now() + 1_800_000).toISOString(),
        digest: 'd', executionId: newId('exec'), grantId: grants[0]!.id, grantVersion: 1, definition: definitionDigest({}), level: 0,
      },
    } as const;
    const approved = { type: 'hitl.approved', capability: 'email.send', metadata: { hitlId, digest: 'd' } } as const;
    await forge(server.database, ...(await Promise.all([[asked, agent.id], [approved, viewer.id]].map(async ([event, by]) => [
      { ...chain, ...(await resting(organizationId, event as AuditEvent, by as string)) },
      { id: newId('audit'), actorId: by as string, timestamp: new Date() },
    ] as const))));
    const { breaks } = await judged();
    expect(breaks.filter((one) => /gate_wrong.*hitl/.test(one))).toEqual([
      expect.stringMatching(/\(hitl\.approved\): usr_\w+ may not decide at level 0$/),
    ]);
  });
});

test('an agent that was in two organizations, of which one is swept and the other not yet', async () => {
  const [a, b] = [await anOrganization(), await anOrganization()];
  const agent = await anAgent(server).inOrganization(b).risk('limited').create();
  (await transferred(server, agent, a)).expect(200);
  (await root.patch(`/api/v1/agents/${agent.id}/risk-level`, { riskLevel: 'high' })).expect(200);
  await aged(server.database);
  (await root.patch(`/api/v1/agents/${agent.id}`, { description: 'young' })).expect(200);
  (await transferred(server, agent, b)).expect(200);
  const client = await welcomed(server, agent, 'web.search', 'on_risk');
  (await client.post('/api/v1/execute', { capability: 'web.search', input: {} })).expect(202);
  await expect(runLogRetention(sweepConfig(server.database, archive), {}, ({ organizationId }) => {
    if (organizationId === a) throw new Error('killed');
  })).rejects.toThrow('killed');
  const left = await server.sql<{ organization: string; first: string }>(
    'select organization_id as organization, min(seq) as first from audit_entries where chain = $1 group by 1', [agent.id]);
  const firsts = left.map(({ organization, first }) => [organization === a ? 'a' : 'b', Number(first)] as const);
  expect(Object.fromEntries(firsts)).toMatchObject({ b: 1 });
  expect((await judged()).breaks.filter((one) => one.includes(agent.id))).toEqual([]);
});
