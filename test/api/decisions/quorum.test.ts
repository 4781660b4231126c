import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { type AskedRequest, type AskedTerms, approveBy, aRequest, rejectBy } from '../../support/builders/requests.js';
import { auditOf, eventsOf } from '../../support/log/entries.js';
import { executionOf, requestOf } from '../../support/builders/gate.js';
import {
  anOrganization, aPerson, aTeam, closeAccount, type BuiltPerson, type PersonTerms, type Role,
} from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
let root: Client;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
});

afterAll(async () => {
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
    const reported = await requestOf(server, request.id);
    expect(reported).toMatchObject({ decided_by: cid!.id, decision: { outcome: 'approved', note: 'go', by: 'human' } });
    expect((reported['votes'] as { voter: string }[]).map(({ voter }) => voter)).toEqual([ann!.id, 'root', cid!.id]);
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
  test.each(['standard', 'strict'] as const)('%s: whoever vouched for an account is one with it', async (setting) => {
    const invited = await person('admin', { vouchedBy: ann!.id });
    if (setting === 'strict') await separation(setting);
    const request = await asked({ approvals: 2 });
    await votes(ann!, request);
    const detail = (await approveBy(invited, request)).expect(409, 'CONFLICT').text('detail');
    expect(detail).toContain('one person');
    await decides(bob!, request);
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
