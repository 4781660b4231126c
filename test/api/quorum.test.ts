import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { as, asRoot, type Client } from '../support/actors.js';
import { type AskedRequest, type AskedTerms, approveBy, aRequest, rejectBy } from '../support/asked.js';
import { auditOf, eventsOf } from '../support/audit.js';
import { eventually } from '../support/eventually.js';
import { executionBecomes, executionOf, pauseOutbox, requestOf, resumeOutbox } from '../support/gate.js';
import { anOrganization, aPerson, aTeam, closeAccount, type BuiltPerson, type PersonTerms, type Role } from '../support/people.js';
import { startServer, type TestServer } from '../support/server.js';

jest.setTimeout(240_000);

let server: TestServer;
let other: TestServer;
let root: Client;

beforeAll(async () => {
  server = await startServer();
  other = await startServer({ replicaOf: server });
  root = asRoot(server);
});

afterAll(async () => {
  await other.stop();
  await server.stop();
});

let organizationId: string;
let [ann, bob, cid]: BuiltPerson[] = [];

beforeEach(async () => {
  organizationId = await anOrganization(server);
  [ann, bob, cid] = await Promise.all([person('admin'), person('admin'), person('admin')]);
});

const person = (role: Role, terms: PersonTerms = {}) => aPerson(server, role, { organizationId, ...terms });
const asked = (quorum: object | null, terms: Partial<AskedTerms> = {}) =>
  aRequest(server, { organizationId, ...terms, grant: { ...(quorum ? { quorum } : {}), ...terms.grant } });
const separation = (setting: 'standard' | 'strict') =>
  server.sql('update organizations set separation_of_duties = $2, revision = revision + 1 where id = $1', [organizationId, setting]);
const configure = async ({ agent, capability }: AskedRequest, terms: object) =>
  (await root.patch(`/api/v1/agents/${agent.id}/capabilities/${capability}`, terms)).expect(200);

/** One vote of several: it is kept, and the request goes on waiting. */
async function votes(by: BuiltPerson | Client, request: AskedRequest, body: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const before = await requestOf(server, request.id);
  (await approveBy(by, request, body)).expect(200);
  const after = await requestOf(server, request.id);
  expect(after).toMatchObject({ status: before.status, decided_by: null, decision: null });
  expect(after['votes']).toHaveLength((before['votes'] as unknown[] ?? []).length + 1);
}

async function decides(by: BuiltPerson, request: AskedRequest, body: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const reply = (await approveBy(by, request, body)).expect(200);
  expect(reply.at('request')).toMatchObject({ status: 'approved', approvedBy: by.id, execution: { status: 'executed' } });
}

describe('several people approve', () => {
  test('each vote is kept and told; the last one decides; a second of the same person is none', async () => {
    const request = await asked({ approvals: 3 }, { grant: { reminders: [{ secondsBefore: 300, escalate: true }] } });
    expect(await requestOf(server, request.id)).toMatchObject({
      quorum: { approvals: 3 }, votes: [], reminders: [{ seconds_before: 300, escalate: true }],
    });
    const first = (await approveBy(ann!, request, { note: 'looks right' })).expect(200);
    expect(first.at('request')).toMatchObject({
      status: 'pending', quorum: { approvals: 3 }, reminders: [{ secondsBefore: 300, escalate: true }],
      votes: [{ voter: ann!.id, note: 'looks right', at: expect.any(String) }],
    });
    (await approveBy(ann!, request)).expect(409, 'CONFLICT');
    await votes(root, request);
    (await approveBy(root, request)).expect(409, 'CONFLICT');
    await decides(cid!, request, { note: 'go' });
    (await approveBy(bob!, request)).expect(409, 'HITL_ALREADY_DECIDED');
    const told = await requestOf(server, request.id);
    expect(told).toMatchObject({ decided_by: cid!.id, decision: { outcome: 'approved', note: 'go', by: 'human' } });
    expect((told['votes'] as { voter: string }[]).map(({ voter }) => voter)).toEqual([ann!.id, 'root', cid!.id]);
    const entries = (await auditOf(server, request.agent.id)).filter(({ event }) => event.startsWith('hitl.'));
    expect(entries).toMatchObject([
      { event: 'hitl.created' },
      { event: 'hitl.voted', actorId: ann!.id, metadata: { hitlId: request.id, approvals: 1, needed: 3, comment: 'looks right' } },
      { event: 'hitl.voted', actorId: 'root', metadata: { approvals: 2, needed: 3 } },
      { event: 'hitl.approved', actorId: cid!.id },
    ]);
  });

  test('one rejection ends it, whoever has approved', async () => {
    const request = await asked({ approvals: 2 });
    await votes(ann!, request);
    (await rejectBy(bob!, request)).expect(200);
    expect(await requestOf(server, request.id)).toMatchObject({ status: 'rejected', votes: [{ voter: ann!.id }] });
    expect(await executionOf(server, request.execution)).toMatchObject({ status: 'cancelled', reason: 'rejected' });
    (await approveBy(cid!, request)).expect(409, 'HITL_ALREADY_DECIDED');
  });

  test('a repeated vote with the same key answers the same; a digest that is not the shown one is refused', async () => {
    const request = await asked({ approvals: 2 });
    (await approveBy(ann!, request, { expectedDigest: '0'.repeat(64) })).expect(409, 'HITL_DIGEST_MISMATCH');
    const keyed = ann!.client.with({ 'idempotency-key': 'vote-1' });
    const first = (await approveBy(keyed, request)).expect(200);
    const again = (await approveBy(keyed, request)).expect(200);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await eventsOf(server, request.agent.id)).filter((event) => event === 'hitl.voted')).toHaveLength(1);
  });

  test('groups: somebody of each team, and of each role or a higher one', async () => {
    const [member, owner] = [await person('member'), await person('owner')];
    const agents = await aTeam(server, organizationId, [{ userId: member.id }]);
    const team = await aTeam(server, organizationId, [{ userId: cid!.id }]);
    const byTeam = await asked({ approvals: 2, groups: [{ teamId: team }] }, { teamId: agents });
    for (const who of [ann!, member, root]) await votes(who, byTeam);
    expect((await requestOf(server, byTeam.id))['quorum']).toEqual({ approvals: 2, groups: [{ team_id: team }] });
    await decides(cid!, byTeam);
    const byRole = await asked({ approvals: 2, groups: [{ role: 'admin' }, { role: 'owner' }] }, { teamId: agents });
    for (const who of [member, ann!]) await votes(who, byRole);
    await decides(owner, byRole);
    // Under strict a place in the group's team has to be older than the request, as the rest has.
    await separation('strict');
    const strict = await asked({ approvals: 2, groups: [{ teamId: team }] });
    await server.sql('update team_members set since = clock_timestamp() where team_id = $1', [team]);
    for (const who of [ann!, cid!, bob!]) await votes(who, strict);
  });
});

describe('votes of those who may not approve any more do not count', () => {
  const LOSSES: readonly (readonly [string, (by: BuiltPerson, team: string) => Promise<unknown>])[] = [
    ['the role is taken away', async (by) => server.sql(`update users set role = 'viewer' where id = $1`, [by.id])],
    ['the account is closed', (by) => closeAccount(server, by)],
    ['left the team', (by, team) => server.sql('delete from team_members where team_id = $1 and user_id = $2', [team, by.id])],
  ];

  test.each(LOSSES)('%s', async (_name, lose) => {
    const member = await person('member');
    const teamId = await aTeam(server, organizationId, [{ userId: member.id }]);
    const request = await asked({ approvals: 2 }, { teamId });
    await votes(member, request);
    await lose(member, teamId);
    await votes(ann!, request);
    await decides(bob!, request);
  });

  test('it was escalated above them', async () => {
    const member = await person('member');
    const request = await asked({ approvals: 2 }, { teamId: await aTeam(server, organizationId, [{ userId: member.id }]) });
    await votes(member, request);
    await server.sql(`update hitl_requests set escalation_level = 1, status = 'escalated' where id = $1`, [request.id]);
    await votes(ann!, request);
    await decides(bob!, request);
  });

  test('once they may again, their own click decides, and they count once', async () => {
    const request = await asked({ approvals: 2 });
    await votes(ann!, request);
    await server.sql(`update users set role = 'viewer' where id = $1`, [ann!.id]);
    await votes(bob!, request);
    (await approveBy(bob!, request)).expect(409, 'CONFLICT');
    await server.sql(`update users set role = 'admin' where id = $1`, [ann!.id]);
    await decides(ann!, request);
    expect((await requestOf(server, request.id))['votes']).toHaveLength(2);
  });

  test('barred by separation of duties meanwhile: strict since, and owner of the agent since', async () => {
    const request = await asked({ approvals: 2 });
    await votes(ann!, request);
    await separation('strict');
    await server.sql('update agents set owner_id = $2 where id = $1', [request.agent.id, ann!.id]);
    await votes(bob!, request);
    (await approveBy(ann!, request)).expect(403, 'SELF_APPROVAL');
    await decides(cid!, request);
  });
});

describe('one person', () => {
  test('strict: whoever vouched for an account is one with it; standard: they are two', async () => {
    const invited = await person('admin', { vouchedBy: ann!.id });
    const standard = await asked({ approvals: 2 });
    await votes(ann!, standard);
    await decides(invited, standard);
    const later = await asked({ approvals: 2 });
    await votes(ann!, later);
    await separation('strict');
    const detail = (await approveBy(invited, later)).expect(409, 'CONFLICT').text('detail');
    expect(detail).toContain('one person');
    await decides(bob!, later);
  });

  test('accounts of one address in two organizations of a tenant are one, under any setting', async () => {
    const tenantId = `ten_${organizationId.slice(4)}`;
    const elsewhere = await anOrganization(server, { tenantId });
    await server.sql('update organizations set tenant_id = $2 where id = $1', [organizationId, tenantId]);
    const owner = await aPerson(server, 'owner', { organizationId: elsewhere, email: ann!.email.toUpperCase() });
    const request = await asked({ approvals: 2 });
    await votes(owner, request);
    (await approveBy(ann!, request)).expect(409, 'CONFLICT');
    await server.sql(`update users set role = 'admin' where id = $1`, [owner.id]);
    // As an admin elsewhere they decide nothing here: the vote is void, and the person may vote by their other account.
    await votes(ann!, request);
    await decides(bob!, request);
  });
});

describe('breaking the glass', () => {
  const reason = 'The plant is on fire.';

  test.each(['owner', 'root'])('%s decides at once, with a reason; it is marked and told loudly', async (who) => {
    const owner = await person('owner');
    const [by, id] = who === 'root' ? [root, 'root'] : [owner.client, owner.id];
    const request = await asked({ approvals: 3, groups: [{ role: 'owner' }] });
    (await approveBy(by, request, { breakGlass: true, reason: 'too short' })).expect(422, 'REASON_REQUIRED');
    await votes(by, request, { breakGlass: false, reason });
    await pauseOutbox(server);
    try {
      (await approveBy(by, request, { breakGlass: true, reason })).expect(200);
      const told = await server.sql(
        `select payload from outbox where organization_id = $1 and payload->>'event' = 'hitl.request.approved'`, [organizationId]);
      expect(told).toMatchObject([{ payload: { hitlRequestId: request.id, priority: 'high', breakGlass: true } }]);
    } finally {
      await resumeOutbox(server);
    }
    expect(await requestOf(server, request.id)).toMatchObject({ status: 'approved', decided_by: id, break_glass: true });
    const entry = (await auditOf(server, request.agent.id)).find(({ event }) => event === 'hitl.approved');
    expect(entry).toMatchObject({ actorId: id, metadata: { breakGlass: true, comment: reason } });
  });

  test('an admin\'s changes nothing, and where nothing bars it is not marked', async () => {
    const owner = await person('owner');
    const request = await asked({ approvals: 2 });
    await votes(ann!, request, { breakGlass: true, reason });
    await decides(owner, request, { breakGlass: true, reason: 'short' });
    expect(await requestOf(server, request.id)).not.toHaveProperty('break_glass');
  });
});

describe('rules that change meanwhile: the stricter of then and now', () => {
  test('raised, lowered, taken away, and added', async () => {
    const raised = await asked({ approvals: 2 });
    await configure(raised, { quorum: { approvals: 3, groups: [{ role: 'owner' }] } });
    for (const who of [ann!, bob!, cid!]) await votes(who, raised);
    await decides(await person('owner'), raised);

    const taken = await asked({ approvals: 2 });
    await configure(taken, { quorum: null });
    await votes(ann!, taken);
    await decides(bob!, taken);

    const added = await asked(null);
    await configure(added, { quorum: { approvals: 2 } });
    await votes(ann!, added);
    await decides(bob!, added);
  });

  test('what time approved alone does not run where several people have to approve now', async () => {
    const request = await asked(null, { grant: { hitlTimeoutAction: 'approve' } });
    await pauseOutbox(server);
    try {
      await server.sql('update hitl_requests set expires_at = clock_timestamp() where id = $1', [request.id]);
      await eventually(async () =>
        expect(await requestOf(server, request.id)).toMatchObject({ status: 'approved', decided_by: 'system' }), { within: 30_000 });
      await configure(request, { quorum: { approvals: 2 }, hitlTimeoutAction: 'reject' });
      await server.sql(`insert into outbox (organization_id, kind, payload) values ($1, 'execution.run', $2)`,
        [organizationId, JSON.stringify({ executionId: request.execution })]);
    } finally {
      await resumeOutbox(server);
    }
    expect(await executionBecomes(server, request.execution, 'cancelled')).toMatchObject({ reason: 'quorum_needed' });
  });

  test('the gate asks for an admin now: of several, only who decides at that level counts', async () => {
    const member = await person('member');
    const mate = await person('member');
    const teamId = await aTeam(server, organizationId, [{ userId: member.id }, { userId: mate.id }]);
    const conditions = [{ when: 'true', hitlMode: 'escalate' }];
    const escalated = await asked({ approvals: 2 }, { teamId });
    await votes(member, escalated);
    await configure(escalated, { conditions });
    (await approveBy(mate, escalated)).expect(409, 'NOT_EXECUTABLE');
    expect(await requestOf(server, escalated.id)).toMatchObject({ status: 'escalated', escalation_level: 2 });
    await votes(ann!, escalated);
    await decides(bob!, escalated);

    const mixed = await asked({ approvals: 2 }, { teamId });
    await votes(member, mixed);
    await configure(mixed, { conditions });
    await votes(ann!, mixed);
    await decides(bob!, mixed);
  });

  test('what several approved satisfies no more than the lowest of them could decide', async () => {
    const member = await person('member');
    const request = await asked({ approvals: 2 }, { teamId: await aTeam(server, organizationId, [{ userId: member.id }]) });
    await server.sql(`update hitl_requests set runs = 'service' where id = $1`, [request.id]);
    await votes(ann!, request);
    (await approveBy(member, request)).expect(200);
    const [row] = await server.sql<{ decider_level: number }>('select decider_level from hitl_requests where id = $1', [request.id]);
    expect(row).toEqual({ decider_level: 0 });
  });

  test('what may no longer run ends at any vote', async () => {
    const request = await asked({ approvals: 3 });
    await votes(ann!, request);
    (await root.post(`/api/v1/agents/${request.agent.id}/deactivate`)).expect(200);
    (await approveBy(bob!, request)).expect(409, 'NOT_EXECUTABLE');
    expect(await requestOf(server, request.id)).toMatchObject({ status: 'cancelled', decided_by: 'system' });
  });
});

test('two at once on two servers: one decision, the other learns it', async () => {
  const elsewhere = (by: BuiltPerson) => as(other, by.key);
  for (let round = 0; round < 40; round++) {
    const request = await asked({ approvals: 2 });
    await votes(ann!, request);
    const last = round % 4 === 3 ? rejectBy(elsewhere(cid!), request) : approveBy(elsewhere(cid!), request);
    const replies = await Promise.all([approveBy(bob!, request), last]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    replies.find(({ status }) => status === 409)!.expect(409, 'HITL_ALREADY_DECIDED');
    const ends = (await eventsOf(server, request.agent.id)).filter((event) => /^hitl.(approved|rejected)$/.test(event));
    expect(ends).toHaveLength(1);
  }
  // The first votes of two: both count, whichever comes first.
  for (let round = 0; round < 20; round++) {
    const request = await asked({ approvals: 2 });
    const replies = await Promise.all([approveBy(bob!, request), approveBy(elsewhere(cid!), request)]);
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    expect(await requestOf(server, request.id)).toMatchObject({ status: 'approved' });
    expect((await eventsOf(server, request.agent.id)).filter((event) => event.startsWith('hitl.')))
      .toEqual(['hitl.created', 'hitl.voted', 'hitl.approved']);
  }
});
