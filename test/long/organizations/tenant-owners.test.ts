import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { agentChain, organizationChain } from '../../../src/domain/audit/entry/chain.js';
import { newId } from '../../../src/domain/ids.js';
import { asRoot, type Client } from '../../support/http/actors.js';
import { anAgent, type GrantTerms } from '../../support/builders/agents.js';
import { countersign } from '../../support/servers/command-line.js';
import { forge } from '../../support/log/forged-entry.js';
import { requestOf } from '../../support/builders/gate.js';
import { decide, known, type Known } from '../../support/memory/decided-log.js';
import { aged, archiveFolder, swept } from '../../support/retention/retention.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { restingOnNow } from '../../support/log/resting-on.js';
import { verifiedLog } from '../../support/log/verified-log.js';

// An owner acts in every organization of their tenant; what tells that they are one stands in the chain of another. Made by the API alone.

let server: TestServer;
let root: Client;

beforeAll(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1', INTERNAL_API_KEY: 'q3Vt8LmYx2Kd7Wp5Rz1Nc6Hs4Jf9BgTe' } });
  root = asRoot(server);
});
afterAll(() => server.stop());

interface TenantGroup {
  readonly first: string;
  readonly second: string;
  /** Of the first, as all owners here. */
  readonly owner: Known;
  readonly adminOfSecond: Known;
}

async function aTenantGroup(): Promise<TenantGroup> {
  const tenant = (await root.post('/internal/v1/tenants', { name: 'Acme', tier: 'enterprise' })).expect(201);
  const first = tenant.text('tenant.firstOrganizationId');
  const owner = await known(server, 'owner', first);
  const second = (await owner.client.post('/api/v1/organizations', { name: 'Second' })).expect(201).text('organization.id');
  return { first, second, owner, adminOfSecond: await known(server, 'admin', second) };
}

/** A request that waits in the second organization. */
async function asked({ second }: TenantGroup, terms: GrantTerms = {}, more: object = {}) {
  const agent = await anAgent(server).inOrganization(second).granted('email.send', { hitlMode: 'propose', ...terms }).create();
  const reply = await agent.client.post('/api/v1/execute', { capability: 'email.send', input: { to: 'ann' }, ...more });
  return { agent, requestId: reply.expect(202).text('hitlRequestId') };
}

const approves = async (by: Known, request: { requestId: string }, body: object = {}) =>
  (await decide(by, request, 'approve', body)).expect(200);
const votes = async ({ client }: Known, { requestId }: { requestId: string }) =>
  (await client.post(`/api/v1/hitl/${requestId}/approve`, {}, { query: { wait: 0 } })).expect(200);

const broken = async () => (await verifiedLog(server.database.url)).breaks.map(({ detail }) => detail);

/** What somebody of the organization is answered who has not asked before. */
async function seenBy(role: string, organizationId: string, path = ''): Promise<{ breaks: unknown[]; wrong: number }> {
  const { client } = await known(server, role, organizationId);
  const reply = (await client.get(`/api/v1/audit/verify${path}`)).expect(200);
  return { breaks: reply.list('breaks'), wrong: reply.number('replay.wrong') };
}
const NOTHING = { breaks: [], wrong: 0 };

test('whatever an owner decides in another organization is right to everybody who verifies it', async () => {
  const group = await aTenantGroup();
  const { owner, adminOfSecond, first, second } = group;
  const plain = await asked(group);
  await approves(owner, plain);
  const two = { quorum: { approvals: 2, groups: [{ role: 'owner' }] } };
  const byTwo = await asked(group, two);
  await votes(owner, byTwo);
  await approves(adminOfSecond, byTwo);
  await approves(owner, await asked(group, two), { breakGlass: true, note: 'The plant is on fire.' });
  const own = await asked(group, {}, { context: { on_behalf_of: owner.id } });
  (await decide(owner, own, 'approve')).expect(403, 'SELF_APPROVAL');
  await approves(owner, own, { breakGlass: true, note: 'The plant is on fire.' });
  (await decide(owner, await asked(group), 'reject')).expect(200);
  await approves(owner, await asked(group), { editedInput: { to: 'bob' } });
  const handed = await asked(group);
  (await decide(owner, handed, 'escalate', { reason: 'unsure' })).expect(200);
  await approves(owner, handed);
  await approves(owner, await asked(group, { hitlMode: 'escalate' }));

  expect(await broken()).toEqual([]);
  const reported = await countersign(['audit', 'verify', '--database-url', server.database.url, '--no-remember']);
  expect([reported.code, reported.stdout]).toEqual([0, expect.stringContaining('decided anew, all right')]);
  expect(await seenBy('owner', first)).toEqual(NOTHING);
  expect(await seenBy('admin', second)).toEqual(NOTHING);
  expect(await seenBy('admin', second, `?agent_id=${plain.agent.id}`)).toEqual(NOTHING);
});

test('an owner is alone with an organization that has no people', async () => {
  const { first, owner } = await aTenantGroup();
  const empty = (await owner.client.post('/api/v1/organizations', { name: 'Third' })).expect(201).text('organization.id');
  const own = await asked({ first, second: empty, owner, adminOfSecond: owner }, {}, { context: { on_behalf_of: owner.id } });
  await approves(owner, own);
  expect(await broken()).toEqual([]);
});

test('what became of an owner afterwards makes nothing wrong that they decided before', async () => {
  const group = await aTenantGroup();
  const { first, second } = group;
  const [demoted, closed, erased] = await Promise.all([1, 2, 3].map(() => known(server, 'owner', first)));
  for (const owner of [demoted!, closed!, erased!]) await approves(owner, await asked(group));
  (await root.patch(`/api/v1/users/${demoted!.id}`, { role: 'admin' })).expect(200);
  (await root.delete(`/api/v1/users/${closed!.id}`)).expect(204);
  (await root.delete(`/api/v1/users/${erased!.id}/data`)).expect(200);
  const left = await asked(group);
  (await decide(demoted!, left, 'approve')).expect(404);
  await approves(group.owner, left);
  expect(await broken()).toEqual([]);
  expect(await seenBy('admin', second)).toEqual(NOTHING);
});

describe('a forged approval', () => {
  async function forged(group: TenantGroup, by: Known): Promise<void> {
    const { agent, requestId } = await asked(group);
    const { action_digest: digest } = await requestOf(server, requestId);
    const approved = { type: 'hitl.approved', capability: 'email.send', metadata: { hitlId: requestId, digest: String(digest) } } as const;
    const run = (sql: string, parameters: unknown[]) => server.sql<Record<string, unknown>>(sql, parameters);
    await forge(server.database, [
      { ...(await restingOnNow(run, group.second, approved, by.id)), chain: agentChain(group.second, agent.id), agentId: agent.id },
      { id: newId('audit'), actorId: by.id, timestamp: new Date() },
    ]);
  }

  test.each<[string, (group: TenantGroup) => Promise<Known>, string]>([
    ['an owner of another tenant', async () => (await aTenantGroup()).owner, 'nobody called ID is there'],
    ['an owner of an organization without a tenant', () => known(server, 'owner'), 'nobody called ID is there'],
    ['an administrator of the first organization', ({ first }) => known(server, 'admin', first), 'nobody called ID is there'],
  ])('by %s is found', async (_, personOf, detail) => {
    const group = await aTenantGroup();
    const person = await personOf(group);
    const expected = expect.stringContaining(`(hitl.approved): ${detail.replace('ID', person.id)}`);
    await forged(group, person);
    expect(await broken()).toContainEqual(expected);
    expect((await seenBy('admin', group.second)).breaks).toContainEqual(expect.objectContaining({ kind: 'gate_wrong', detail: expected }));
  });

  test('is found also where the log says afterwards that the organization is of that tenant, or its row does', async () => {
    const [group, abroad] = [await aTenantGroup(), await aTenantGroup()];
    const [{ tenant_id: tenantId }] = (await server.sql<{ tenant_id: string }>('select tenant_id from organizations where id = $1',
      [abroad.first])) as [{ tenant_id: string }];
    await forged(group, abroad.owner);
    await forge(server.database, [{
      type: 'admin.organization_created', metadata: { organizationId: group.second, name: 'Second', tenantId },
      chain: organizationChain(group.second),
    }, { id: newId('audit'), actorId: 'root', timestamp: new Date() }]);
    await server.sql('update organizations set tenant_id = $2 where id = $1', [group.second, tenantId]);
    const expected = expect.stringContaining(`nobody called ${abroad.owner.id} is there`);
    expect(await broken()).toContainEqual(expected);
    expect((await seenBy('admin', group.second)).breaks).toContainEqual(expect.objectContaining({ detail: expected }));
  });
});

test('after a sweep of all of it nobody can tell, and nothing is wrong for that', async () => {
  const archive = await archiveFolder();
  const other = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1', INTERNAL_API_KEY: 'q3Vt8LmYx2Kd7Wp5Rz1Nc6Hs4Jf9BgTe' } });
  const before = { server, root };
  [server, root] = [other, asRoot(other)];
  try {
    const group = await aTenantGroup();
    const { owner, adminOfSecond, first, second } = group;
    await aged(other.database);
    await swept(other.database, archive);
    // Made since, in a tenant of which the log tells: between the two everything is known.
    const young = (await owner.client.post('/api/v1/organizations', { name: 'Young' })).expect(201).text('organization.id');
    const there = { ...group, second: young };
    await approves(owner, await asked(group));
    await approves(owner, await asked(there));
    const byTwo = await asked(there, { quorum: { approvals: 2 } });
    await votes(owner, byTwo);
    await approves(await known(server, 'admin', young), byTwo);
    await approves(adminOfSecond, await asked(group));
    const { breaks, members } = await verifiedLog(other.database.url);
    expect([breaks, members['replay']]).toEqual([[], expect.objectContaining({ wrong: 0, notReplayable: { swept: 5 } })]);
    for (const organizationId of [first, second, young]) expect(await seenBy('admin', organizationId)).toEqual(NOTHING);
  } finally {
    ({ server, root } = before);
    await other.stop();
  }
});
