import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asRoot, type Reply } from '../../support/http/actors.js';
import { auditOf } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent, type GrantTerms } from '../../support/builders/agents.js';
import { eventually } from '../../support/running/eventually.js';
import { requestOf } from '../../support/builders/gate.js';
import { anOrganization, aPerson, aStop, aTeam, closeAccount, type BuiltPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const REASON = 'beyond my limit';

let server: TestServer;
let organizationId: string;
let teamId: string;
let owner: BuiltPerson;
let admin: BuiltPerson;
let lead: BuiltPerson;
let member: BuiltPerson;

beforeAll(async () => {
  server = await startServer();
});

afterAll(() => server.stop());

// Each test has an organization of its own: one lead, and two who decide at level 2.
beforeEach(async () => {
  organizationId = await anOrganization(server);
  [owner, admin, lead, member] = await Promise.all(
    (['owner', 'admin', 'member', 'member'] as const).map((role) => aPerson(server, role, { organizationId }))) as
    [BuiltPerson, BuiltPerson, BuiltPerson, BuiltPerson];
  teamId = await aTeam(server, organizationId, [{ userId: member.id }, { userId: lead.id, role: 'lead' }]);
});

interface Asked {
  readonly agent: BuiltAgent;
  readonly id: string;
}

async function asked(terms: GrantTerms = {}, context?: Readonly<Record<string, string>>): Promise<Asked> {
  const agent = await anAgent(server).inOrganization(organizationId).granted('email.send', { hitlMode: 'propose', ...terms }).create();
  await server.sql('update agents set team_id = $2 where id = $1', [agent.id, teamId]);
  await server.sql('update audit_heads set revision = revision + 1 where chain = $1', [agent.id]);
  const call = { capability: 'email.send', input: { to: 'a@example.org' }, ...(context ? { context } : {}) };
  return { agent, id: (await agent.client.post('/api/v1/execute', call)).expect(202).text('hitlRequestId') };
}

const escalate = (by: BuiltPerson, { id }: Asked, body: Readonly<Record<string, unknown>> = {}): Promise<Reply> =>
  by.client.post(`/api/v1/hitl/${id}/escalate`, { reason: REASON, ...body });

describe('POST /hitl/:id/escalate', () => {
  test('from level 0 to 1 to 2, with a new window each, and no further', async () => {
    const request = await asked();
    const before = await requestOf(server, request.id);
    await server.sql(`update hitl_requests set expires_at = clock_timestamp() + interval '1 minute' where id = $1`, [request.id]);
    const once = (await escalate(member, request)).expect(200);
    expect(once.body).toMatchObject({
      id: request.id, status: 'escalated', escalation_level: 1, escalated_to: lead.id, escalation_reason: REASON,
      escalated_at: expect.any(String), decision: null, action_digest: before.action_digest,
    });
    const opened = (seen: Reply) => (Date.parse(seen.text('expires_at')) - Date.parse(seen.text('escalated_at'))) / 1000;
    expect(opened(once)).toBeCloseTo(1800, 0);

    // A member of the team decides at level 0 only.
    (await escalate(member, request)).expect(403, 'NOT_ELIGIBLE');
    const twice = (await lead.client.post(`/api/v1/hitl/${request.id}/escalate?form=camel`, { reason: 'mine neither' })).expect(200);
    expect(twice.body).toMatchObject({
      id: request.id, status: 'escalated', escalationLevel: 2, escalatedAt: expect.any(String), escalationReason: 'mine neither',
    });
    expect(await requestOf(server, request.id))
      .toMatchObject({ escalation_level: 2, escalated_to: null, escalation_reason: 'mine neither' });
    const standing = await requestOf(server, request.id);
    (await escalate(admin, request)).expect(409, 'ESCALATION_LIMIT');
    expect(await requestOf(server, request.id)).toEqual(standing);

    const entries = (await auditOf(server, request.agent.id)).filter(({ event }) => event === 'hitl.escalated');
    expect(entries).toMatchObject([
      { actorId: member.id, metadata: { hitlId: request.id, reason: REASON, level: 1, escalatedTo: lead.id } },
      { actorId: lead.id, metadata: { hitlId: request.id, reason: 'mine neither', level: 2 } },
    ]);
    expect(entries[1]!.metadata).not.toHaveProperty('escalatedTo');
    (await lead.client.post(`/api/v1/hitl/${request.id}/approve`)).expect(403, 'NOT_ELIGIBLE');
    (await admin.client.post(`/api/v1/hitl/${request.id}/approve`)).expect(200);
  });

  test('by whoever may decide it: root and initiators too, nobody else', async () => {
    const request = await asked();
    const [viewer, nobody] = [await aPerson(server, 'viewer', { organizationId }), await aPerson(server, 'member', { organizationId })];
    const stranger = await aPerson(server, 'owner', { organizationId: await anOrganization(server) });
    (await escalate(viewer, request)).expect(403, 'FORBIDDEN');
    (await request.agent.client.post(`/api/v1/hitl/${request.id}/escalate`, { reason: REASON })).expect(403, 'FORBIDDEN');
    (await escalate(nobody, request)).expect(403, 'NOT_ELIGIBLE');
    (await escalate(stranger, request)).expect(404, 'NOT_FOUND');
    (await asRoot(server).post(`/api/v1/hitl/${request.id}/escalate`, { reason: REASON })).expect(200);

    const own = await asked({}, { on_behalf_of: admin.id });
    await server.sql('update hitl_requests set escalation_level = 0 where id = $1', [own.id]);
    (await admin.client.post(`/api/v1/hitl/${own.id}/approve`)).expect(403, 'SELF_APPROVAL');
    (await escalate(admin, own)).expect(200);
  });

  test.each([
    ['no reason', { reason: undefined }, '/reason'], ['a blank one', { reason: '  ' }, '/reason'],
    ['one that is too long', { reason: 'x'.repeat(4_001) }, '/reason'], ['a number for one', { reason: 5 }, '/reason'],
    ['a number for a person', { escalateTo: 5 }, '/escalateTo'], ['what is no digest', { expectedDigest: 'abc' }, '/expectedDigest'],
  ])('%s is refused', async (_, body, pointer) => {
    const request = await asked();
    const refused = (await escalate(member, request, body)).expect(400, 'VALIDATION_FAILED');
    expect(refused.at('errors')).toMatchObject([{ pointer }]);
    expect(await requestOf(server, request.id)).toMatchObject({ status: 'pending', escalation_level: 0 });
  });

  test('a reason of 4,000 characters, whatever they are', async () => {
    const reason = '🂡'.repeat(4_000);
    expect((await escalate(member, await asked(), { reason })).expect(200).at('escalation_reason')).toBe(reason);
  });

  test('state, window, digest and stop are told', async () => {
    const request = await asked();
    (await escalate(member, request, { expectedDigest: '0'.repeat(64) })).expect(409, 'HITL_DIGEST_MISMATCH');
    const stop = await aStop(server, organizationId, { agentId: request.agent.id });
    (await escalate(member, request)).expect(403, 'STOPPED');
    await server.sql('update stops set lifted_at = clock_timestamp(), lifted_by = $2 where id = $1', [stop, 'root']);
    const digest = (await requestOf(server, request.id)).action_digest;
    (await escalate(member, request, { expected_digest: digest })).expect(200);
    (await lead.client.post(`/api/v1/hitl/${request.id}/reject`)).expect(200);
    const late = (await escalate(lead, request)).expect(409, 'HITL_ALREADY_DECIDED');
    expect(late.at('request')).toMatchObject({ id: request.id, status: 'rejected', decidedBy: lead.id });

    const over = await asked({ hitlTimeoutSeconds: 1 });
    await eventually(async () => expect((await requestOf(server, over.id)).status).toBe('timed_out'));
    (await escalate(member, over)).expect(409, 'HITL_EXPIRED');
  });

  test('the same key escalates once', async () => {
    const request = await asked();
    const keyed = member.client.with({ 'idempotency-key': 'once' });
    const call = () => keyed.post(`/api/v1/hitl/${request.id}/escalate`, { reason: REASON });
    (await call()).expect(200);
    const again = (await call()).expect(200);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toMatchObject({ status: 'escalated', escalation_level: 1 });
    (await keyed.post(`/api/v1/hitl/${request.id}/escalate`, { reason: 'another' })).expect(422, 'IDEMPOTENCY_KEY_REUSED');
  });
});

describe('escalateTo', () => {
  test('names somebody who may decide there: of the level, or above it', async () => {
    const second = await aPerson(server, 'member', { organizationId });
    await server.sql(`insert into team_members values ($1, $2, $3, 'lead', now() - interval '1 hour', now() - interval '1 hour')`,
      [organizationId, teamId, second.id]);
    for (const [name, to] of [['escalateTo', second], ['escalate_to', admin]] as const) {
      const request = await asked();
      expect((await escalate(member, request, { [name]: to.id })).expect(200).body)
        .toMatchObject({ escalation_level: 1, escalated_to: to.id });
      expect((await auditOf(server, request.agent.id)).at(-1)).toMatchObject({ metadata: { escalatedTo: to.id } });
      // Whoever is eligible at that level may decide nevertheless.
      (await lead.client.post(`/api/v1/hitl/${request.id}/approve`)).expect(200);
    }
    const unnamed = await asked();
    expect((await escalate(member, unnamed)).expect(200).at('escalated_to')).toBeNull();
  });

  test('nobody else: TARGET_NOT_ELIGIBLE, and nothing has changed', async () => {
    const [viewer, left] = [await aPerson(server, 'viewer', { organizationId }), await aPerson(server, 'admin', { organizationId })];
    await closeAccount(server, left);
    const stranger = await aPerson(server, 'owner', { organizationId: await anOrganization(server) });
    const request = await asked();
    const before = await requestOf(server, request.id);
    for (const target of ['usr_nobody', member.id, viewer.id, left.id, stranger.id, request.agent.id, admin.email]) {
      const refused = (await escalate(member, request, { escalateTo: target })).expect(422, 'TARGET_NOT_ELIGIBLE');
      expect(refused.at('errors')).toMatchObject([{ pointer: '/escalateTo' }]);
    }
    expect(await requestOf(server, request.id)).toEqual(before);
    (await escalate(member, request)).expect(200);
    (await escalate(lead, request, { escalateTo: lead.id })).expect(422, 'TARGET_NOT_ELIGIBLE');
    (await escalate(lead, request, { escalateTo: owner.id })).expect(200);
  });

  test('nobody whom separation of duties bars', async () => {
    const request = await asked({}, { on_behalf_of: lead.id });
    await server.sql('update hitl_requests set escalation_level = 0 where id = $1', [request.id]);
    (await escalate(member, request, { escalateTo: lead.id })).expect(422, 'TARGET_NOT_ELIGIBLE');
    expect((await escalate(member, request)).expect(200).at('escalated_to')).toBeNull();
  });

  test('by timeout too it goes to the only one of the level', async () => {
    await closeAccount(server, owner);
    const request = await asked({ hitlTimeoutSeconds: 2, hitlTimeoutAction: 'escalate' });
    const standing = (level: number) => eventually(async () => {
      const seen = await requestOf(server, request.id);
      if (seen['escalation_level'] !== level) throw new Error(`it stands at level ${String(seen['escalation_level'])}`);
      return seen;
    });
    expect(await standing(1)).toMatchObject({ status: 'escalated', escalated_to: lead.id });
    expect(await standing(2)).toMatchObject({ status: 'escalated', escalated_to: admin.id });
    const recorded = (await auditOf(server, request.agent.id)).filter(({ event }) => event === 'hitl.escalated');
    expect(recorded).toMatchObject([
      { actorId: 'system', metadata: { level: 1, escalatedTo: lead.id } },
      { actorId: 'system', metadata: { level: 2, escalatedTo: admin.id } },
    ]);
  });
});
