import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { anAgent, type GrantTerms } from '../../support/builders/agents.js';
import { approveBy, aRequest, rejectBy } from '../../support/builders/requests.js';
import { aPerson, type BuiltPerson, type Role } from '../../support/builders/people.js';
import { aTenant } from '../../support/builders/tenants.js';
import { makeDue } from '../../support/hitl/due-requests.js';
import { eventually } from '../../support/running/eventually.js';
import { auditOf } from '../../support/log/entries.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { EXECUTE } from '../../support/http/paths.js';

// The entry of each decision says up to where the chains that tell shared facts were read for it, and of whom.

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let server: TestServer;
let root: Client;
let organizationId: string;
let [ann, bob]: BuiltPerson[] = [];

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
});
afterAll(() => server.stop());

beforeEach(async () => {
  organizationId = (await root.post('/api/v1/organizations', { name: 'Another' })).expect(201).text('organization.id');
  [ann, bob] = [await person('admin'), await person('admin')];
});

const person = (role: Role) => aPerson(server, role, { organizationId });

/** The position of the newest entry of the organization's own chain, or of the platform's. */
async function headOf(organization: string): Promise<number> {
  const chain = organization === 'org_platform' ? 'sys_platform' : `sys_${organization}`;
  const [head] = await server.sql<{ seq: string }>('select seq from audit_heads where chain = $1', [chain]);
  return Number(head!.seq);
}

/** What the basis of a decision must be that is made now. Root's calls are entries of the platform's chain. */
const basisNow = async () =>
  ({ organization: await headOf(organizationId), platform: expect.any(Number), at: expect.stringMatching(TIME) });
const homeNow = async () => ({ organization: organizationId, position: await headOf(organizationId) });

/** Metadata of the agent's newest entry of this event. */
async function reported(agentId: string, event: string): Promise<Record<string, unknown>> {
  return (await auditOf(server, agentId)).filter((entry) => entry.event === event).at(-1)!.metadata;
}

const renamed = async (id: string) => (await root.patch(`/api/v1/organizations/${id}`, { name: 'Renamed' })).expect(200);
const anAgentWith = (grant: GrantTerms) => anAgent(server).inOrganization(organizationId).granted('web.search', grant).create();

describe('what the gate decides', () => {
  test.each([['auto', 'execution.started'], ['block', 'execution.blocked'], ['propose', 'hitl.created']])('%s', async (hitlMode, event) => {
    const agent = await anAgentWith({ hitlMode });
    await agent.client.post(EXECUTE, { capability: 'web.search' });
    expect(await reported(agent.id, event)).toMatchObject({ basis: await basisNow() });
  });

  test('a stop of everything: the platform\'s position is that of its entry', async () => {
    const agent = await anAgentWith({ hitlMode: 'auto' });
    const stop = (await root.post('/api/v1/stops', { scope: 'all', reason: 'a drill' })).expect(201).text('stop.id');
    (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(403, 'STOPPED');
    (await root.delete(`/api/v1/stops/${stop}`)).expect(204);
    const { basis } = await reported(agent.id, 'execution.blocked') as { basis: { platform: number } };
    const stops = await server.sql<{ seq: string }>(
      `select seq from audit_entries where chain = 'sys_platform' and event like 'admin.stop_%' order by seq desc limit 2`);
    const [ended, started] = stops.map(({ seq }) => Number(seq));
    expect(basis.platform).toBeGreaterThanOrEqual(started!);
    expect(basis.platform).toBeLessThan(ended!);
  });

  test('from facts of a moment ago too: it is the position of then, until what is shared changes', async () => {
    const agent = await anAgentWith({ hitlMode: 'auto' });
    const begin = async () => {
      (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(200);
      return (await reported(agent.id, 'execution.started'))['basis'] as { organization: number; at: string };
    };
    const [first, again] = [await begin(), await begin()];
    expect(again.organization).toBe(first.organization);
    expect(again.at > first.at).toBe(true);
    const stop = (await root.post('/api/v1/stops', { scope: 'organization', id: organizationId, reason: 'a drill' })).text('stop.id');
    (await root.delete(`/api/v1/stops/${stop}`)).expect(204);
    expect((await begin()).organization).toBe(await headOf(organizationId));
    expect(await headOf(organizationId)).toBeGreaterThan(first.organization);
  });
});

describe('what people decide', () => {
  test('approved: who did, and the receipt that follows', async () => {
    const request = await aRequest(server, { organizationId });
    (await approveBy(ann!, request)).expect(200);
    const basis = await basisNow();
    expect(await reported(request.agent.id, 'hitl.approved'))
      .toMatchObject({ basis, decider: { role: 'admin', level: 2, home: await homeNow() } });
    expect(await reported(request.agent.id, 'execution.started')).toMatchObject({ basis });
  });

  test('rejected by root, who has no account', async () => {
    const request = await aRequest(server, { organizationId });
    (await rejectBy(root, request)).expect(200);
    const { decider, basis } = await reported(request.agent.id, 'hitl.rejected');
    expect(decider).toEqual({ role: 'root', level: 2 });
    expect(basis).toEqual(await basisNow());
  });

  test('edited and approved in one, and escalated', async () => {
    const edited = await aRequest(server, { organizationId });
    (await approveBy(ann!, edited, { editedInput: { to: 'b@example.org' } })).expect(200);
    const by = { basis: await basisNow(), decider: { role: 'admin', level: 2, home: await homeNow() } };
    expect(await reported(edited.agent.id, 'hitl.edited')).toMatchObject(by);
    expect(await reported(edited.agent.id, 'hitl.approved')).toMatchObject(by);
    const escalated = await aRequest(server, { organizationId });
    (await ann!.client.post(`/api/v1/hitl/${escalated.id}/escalate`, { reason: 'not mine' })).expect(200);
    expect(await reported(escalated.agent.id, 'hitl.escalated')).toMatchObject(by);
  });

  test('of several: whose earlier votes counted, with their rights of the last one\'s moment', async () => {
    const request = await aRequest(server, { organizationId, grant: { quorum: { approvals: 3 } } });
    (await approveBy(ann!, request)).expect(200);
    expect(await reported(request.agent.id, 'hitl.voted')).toMatchObject({ decider: { role: 'admin', home: await homeNow() } });
    (await approveBy(root, request)).expect(200);
    (await root.patch(`/api/v1/users/${ann!.id}`, { role: 'owner' })).expect(200);
    (await approveBy(bob!, request)).expect(200);
    expect(await reported(request.agent.id, 'hitl.approved')).toMatchObject({
      basis: await basisNow(),
      decider: { role: 'admin', level: 2, home: await homeNow() },
      voters: [{ userId: ann!.id, role: 'owner', level: 2, home: await homeNow() }, { userId: 'root', role: 'root', level: 2 }],
    });
  });

  test('an owner from another organization of the tenant: the account was read there', async () => {
    const { organizationIds: [here, other] } = await aTenant(server, 'enterprise', { organizations: 2 });
    organizationId = here!;
    await renamed(other!);
    const owner = await aPerson(server, 'owner', { organizationId: other! });
    const request = await aRequest(server, { organizationId });
    (await approveBy(owner, request)).expect(200);
    expect(await reported(request.agent.id, 'hitl.approved')).toMatchObject({
      basis: await basisNow(), decider: { role: 'owner', level: 2, home: { organization: other, position: 1 } },
    });
  });

  test('approved by time: the facts of that moment, and nobody', async () => {
    const request = await aRequest(server, { organizationId, grant: { hitlTimeoutAction: 'approve' } });
    await makeDue(server, [request.id]);
    await eventually(async () => expect((await auditOf(server, request.agent.id)).map(({ event }) => event)).toContain('hitl.approved'));
    const { basis, decider } = await reported(request.agent.id, 'hitl.approved');
    expect(basis).toEqual(await basisNow());
    expect(decider).toBeUndefined();
  });
});
