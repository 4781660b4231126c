import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { as, asRoot, type Client } from '../../support/http/actors.js';
import { type AskedRequest, type AskedTerms, approveBy, aRequest, rejectBy } from '../../support/builders/requests.js';
import { auditOf, eventsOf } from '../../support/log/entries.js';
import { eventually } from '../../support/running/eventually.js';
import { defineCapability, executionBecomes, pauseOutbox, requestOf, resumeOutbox } from '../../support/builders/gate.js';
import {
  anOrganization, aPerson, aTeam, type BuiltPerson, firstOrganization, type PersonTerms, type Role,
} from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { keepEvents, keptEvents } from '../../support/notifications/kept-events.js';

let server: TestServer;
let other: TestServer;
let root: Client;

beforeAll(async () => {
  server = await startServer();
  await keepEvents(server);
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
      const notified = (await keptEvents(server, request.id)).filter(({ event }) => event === 'hitl.request.approved');
      expect(notified).toMatchObject([{ hitlRequestId: request.id, priority: 'high', breakGlass: true }]);
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
    const [raised, owner] = [await asked({ approvals: 2 }), await person('owner')];
    await configure(raised, { quorum: { approvals: 3, groups: [{ role: 'owner' }] } });
    for (const who of [ann!, bob!, cid!]) await votes(who, raised);
    await decides(owner, raised);

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
    const capability = 'order.place';
    await defineCapability(server, capability, { connector: { type: 'http', method: 'POST', url: 'http://127.0.0.1:9/' } });
    const terms = { organizationId: await firstOrganization(server), capability, grant: { hitlTimeoutAction: 'approve' } } as const;
    const request = await asked(null, terms);
    await aPerson(server, 'admin');
    await pauseOutbox(server);
    try {
      await server.sql('update hitl_requests set expires_at = clock_timestamp() where id = $1', [request.id]);
      await eventually(async () =>
        expect(await requestOf(server, request.id)).toMatchObject({ status: 'approved', decided_by: 'system' }));
      await configure(request, { quorum: { approvals: 2 }, hitlTimeoutAction: 'reject' });
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
  for (let round = 0; round < 12; round++) {
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
  for (let round = 0; round < 6; round++) {
    const request = await asked({ approvals: 2 });
    const replies = await Promise.all([approveBy(bob!, request), approveBy(elsewhere(cid!), request)]);
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    expect(await requestOf(server, request.id)).toMatchObject({ status: 'approved' });
    expect((await eventsOf(server, request.agent.id)).filter((event) => event.startsWith('hitl.')))
      .toEqual(['hitl.created', 'hitl.voted', 'hitl.approved']);
  }
});
