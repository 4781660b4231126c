import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { keepEvents, keptEvents } from '../../support/notifications/kept-events.js';
import { auditOf } from '../../support/log/entries.js';
import { executionBecomes, pauseOutbox, requestOf, resumeOutbox } from '../../support/builders/gate.js';
import { aTeam, type BuiltPerson } from '../../support/builders/people.js';
import {
  startDecisions, CAPABILITY, server, root, receiver, organizationId, other, person, separation, type Asked, asked, approve, barred,
  approved,
} from '../../support/hitl/decision-setting.js';

startDecisions();
beforeAll(() => keepEvents(server));

describe('breaking the glass', () => {
  const REASON = 'The plant is on fire.';
  let owner: BuiltPerson;

  beforeEach(async () => {
    owner = await person('owner');
  });

  const ownCase = () => asked({ context: { on_behalf_of: owner.id } });

  test.each(['breakGlass', 'break_glass'])('%s with a reason decides, and is seen everywhere', async (name) => {
    const request = await ownCase();
    await barred(owner, request);
    await barred(owner, request, 'REASON_REQUIRED', { [name]: true });
    await barred(owner, request, 'REASON_REQUIRED', { [name]: true, reason: '  123456789 ' });
    await barred(owner, request, 'SELF_APPROVAL', { [name]: false, reason: REASON });
    (await approve(owner, request, { [name]: 'yes', reason: REASON })).expect(400, 'VALIDATION_FAILED');

    await pauseOutbox(server);
    try {
      const reply = await approved(owner, request, { [name]: true, comment: REASON });
      expect(reply.at('request')).toMatchObject({ breakGlass: true, comment: REASON });
      const loud = { priority: 'high', breakGlass: true, by: owner.id };
      const notified = (await keptEvents(server, request.id)).filter(({ event }) => event === 'hitl.request.approved');
      expect(notified).toEqual([{ event: 'hitl.request.approved', hitlRequestId: request.id, ...loud }]);
    } finally {
      await resumeOutbox(server);
    }
    expect(await requestOf(server, request.id)).toMatchObject({ break_glass: true, decided_by: owner.id });
    const entry = (await auditOf(server, request.agent.id)).find(({ event }) => event === 'hitl.approved');
    expect(entry).toMatchObject({ actorId: owner.id, metadata: { hitlId: request.id, comment: REASON, breakGlass: true } });
  });

  test('lifts what strict says too: an agent of one\'s own, a key that is too young', async () => {
    await separation('strict');
    await approved(owner, await asked({ ownerId: owner.id }), { breakGlass: true, note: REASON });
    const request = await asked();
    await server.sql('update personal_keys set created_at = clock_timestamp() where user_id = $1', [owner.id]);
    await barred(owner, request, 'NOT_ELIGIBLE');
    const reply = await approved(owner, request, { breakGlass: true, note: REASON });
    expect(reply.at('request.breakGlass')).toBe(true);
  });

  test('is not marked where nothing was barred, for root neither', async () => {
    const request = await asked();
    const reply = await approved(owner, request, { breakGlass: true });
    expect(reply.body).not.toHaveProperty('request.breakGlass');
    expect(await requestOf(server, request.id)).not.toHaveProperty('break_glass');
    const entry = (await auditOf(server, request.agent.id)).find(({ event }) => event === 'hitl.approved');
    expect(entry!.metadata).not.toHaveProperty('breakGlass');
    const byRoot = await approve(root, await ownCase(), { breakGlass: true });
    expect(byRoot.expect(200).body).not.toHaveProperty('request.breakGlass');
  });

  test('is for owners: neither an admin nor a member who may not decide at all', async () => {
    const member = await person('member');
    const glass = { breakGlass: true, reason: REASON };
    await barred(other, await asked({ context: { on_behalf_of: other.id } }), 'SELF_APPROVAL', glass);
    await barred(member, await asked(), 'NOT_ELIGIBLE', glass);
  });

  test('lifts nothing else: digest, end of the window, a revoked grant', async () => {
    const glass = { breakGlass: true, reason: REASON };
    const request = await ownCase();
    (await approve(owner, request, { ...glass, expectedDigest: '0'.repeat(64) })).expect(409, 'HITL_DIGEST_MISMATCH');
    const [grant] = (await root.get(`/api/v1/agents/${request.agent.id}/capabilities`)).list('grants') as { id: string }[];
    (await root.delete(`/api/v1/capabilities/grant/${grant!.id}`)).expect(204);
    (await approve(owner, request, glass)).expect(409, 'NOT_EXECUTABLE');
    expect(await requestOf(server, request.id)).not.toHaveProperty('break_glass');
    const late = await ownCase();
    await server.sql('update hitl_requests set expires_at = clock_timestamp() where id = $1', [late.id]);
    (await approve(owner, late, glass)).expect(409, 'HITL_EXPIRED');
  });
});

describe('where the gate now says escalate', () => {
  const capability = 'crm.push';
  let member: BuiltPerson;
  let teamId: string;

  beforeEach(async () => {
    member = await person('member');
    teamId = await aTeam(server, organizationId, [{ userId: member.id }]);
    const connector = { type: 'http', method: 'POST', url: receiver.url, body: '{input}' };
    (await other.client.post('/api/v1/capabilities', { name: capability, description: 'push', connector })).expect(201);
  });

  const nowEscalates = async ({ agent }: Asked, name: string) =>
    (await root.patch(`/api/v1/agents/${agent.id}/capabilities/${name}`, { hitl_mode: 'escalate' })).expect(200);

  test("at approval: a member's decides nothing, the request goes to the admins with a new window", async () => {
    const request = await asked({ teamId });
    await server.sql(`update hitl_requests set expires_at = clock_timestamp() + interval '60 s' where id = $1`, [request.id]);
    await nowEscalates(request, CAPABILITY);
    const headers = { 'idempotency-key': `key-${request.id}` };
    const click = () => member.client.post(`/api/v1/hitl/${request.id}/approve`, {}, { headers });
    const first = (await click()).expect(409, 'NOT_EXECUTABLE');
    expect(first.at('request')).toEqual({ id: request.id, status: 'escalated', decidedBy: null, decidedAt: null });
    const stands = await requestOf(server, request.id);
    expect(stands).toMatchObject({
      status: 'escalated', escalation_level: 2, decision: null, hitl_mode: 'propose', escalated_at: expect.any(String),
      escalation_reason: expect.stringContaining('admin'),
    });
    expect(Date.parse(String(stands['expires_at'])) - Date.now()).toBeGreaterThan(1_700_000);
    expect((await auditOf(server, request.agent.id)).at(-1)).toMatchObject({
      event: 'hitl.escalated', actorId: 'system', metadata: { hitlId: request.id, level: 2 },
    });
    const again = (await click()).expect(409, 'NOT_EXECUTABLE');
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.at('request')).toEqual(first.at('request'));
    await barred(member, request, 'NOT_ELIGIBLE');
    await approved(other, request);
  });

  const deciders = [['a member', 'cancelled'], ['an admin', 'executed']] as const;

  test.each(deciders)('at run: the approval of %s, and it is %s', async (who, status) => {
    const request = await asked({ capability, teamId });
    const before = receiver.requests.length;
    await pauseOutbox(server);
    try {
      const decider = who === 'a member' ? member : other;
      (await decider.client.post(`/api/v1/hitl/${request.id}/approve`, {}, { query: { wait: 0 } })).expect(200);
      await nowEscalates(request, capability);
    } finally {
      await resumeOutbox(server);
    }
    const execution = await executionBecomes(server, request.execution, status, 30_000);
    expect(receiver.requests).toHaveLength(before + (status === 'executed' ? 1 : 0));
    if (status === 'executed') return;
    expect(execution.reason).toBe('escalation_needed');
    expect(await requestOf(server, request.id)).toMatchObject({ status: 'approved', decided_by: member.id });
    expect((await auditOf(server, request.agent.id)).at(-1)).toMatchObject({
      event: 'execution.cancelled', metadata: { reason: 'escalation_needed' },
    });
  });
});
