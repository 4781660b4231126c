import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { as, asRoot, type Client } from '../support/actors.js';
import { type AskedRequest, type AskedTerms, approveBy, aRequest, digestOf, rejectBy } from '../support/asked.js';
import { auditOf, eventsOf } from '../support/audit.js';
import { defineCapability, executionBecomes, executionOf, pauseOutbox, requestOf, resumeOutbox } from '../support/gate.js';
import { anOrganization, aPerson, aTeam, firstOrganization, type BuiltPerson, type PersonTerms, type Role } from '../support/people.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { startServer, type TestServer } from '../support/server.js';

jest.setTimeout(240_000);

let server: TestServer;
let other: TestServer;
let root: Client;
let receiver: Receiver;

beforeAll(async () => {
  [server, receiver] = await Promise.all([startServer(), startReceiver()]);
  other = await startServer({ replicaOf: server });
  root = asRoot(server);
});

afterAll(async () => {
  await other.stop();
  await server.stop();
  await receiver.close();
});

let organizationId: string;
let [ann, bob]: BuiltPerson[] = [];

beforeEach(async () => {
  organizationId = await anOrganization(server);
  [ann, bob] = await Promise.all([person('admin'), person('admin')]);
});

const person = (role: Role, terms: PersonTerms = {}) => aPerson(server, role, { organizationId, ...terms });
const asked = (terms: Partial<AskedTerms> = {}) => aRequest(server, { organizationId, input: { amount: 10 }, ...terms });
const separation = (setting: 'standard' | 'strict') =>
  server.sql('update organizations set separation_of_duties = $2, revision = revision + 1 where id = $1', [organizationId, setting]);
const configure = async ({ agent, capability }: AskedRequest, terms: object) =>
  (await root.patch(`/api/v1/agents/${agent.id}/capabilities/${capability}`, terms)).expect(200);
const GREW = [{ op: 'replace', path: '/amount', value: 1_000_000 }];
const LARGE = { amount: 1_000_000 };
const escalatesAbove = (amount: number) => [{ when: `input.amount > ${amount}`, hitlMode: 'escalate' }];

/** A connector's capability of the first organization, where the definitions of tests stand. */
async function connected(terms: Partial<AskedTerms> = {}): Promise<AskedRequest> {
  const capability = `crm.edit-${receiver.requests.length}-${Date.now()}`;
  const inputSchema = { type: 'object', properties: { amount: { type: 'number', minimum: 0 } }, required: ['amount'] };
  const connector = { type: 'http', method: 'POST', url: `${receiver.url}/{input.to}`, body: '{input}' };
  await defineCapability(server, capability, { inputSchema, connector });
  return asked({ organizationId: await firstOrganization(server), capability, input: { amount: 10, to: 'x' }, ...terms });
}

describe('whoever edits and may approve does both in one call', () => {
  test.each(['editedInput', 'edited_input'])('%s: what runs is the edited bytes, and everybody is told the diff', async (name) => {
    const request = await connected();
    const admin = await aPerson(server, 'admin');
    const [before, seen] = [await requestOf(server, request.id), receiver.requests.length];
    const edited = { to: 'é/~', amount: 7.5, nested: [{ a: null }], constructor: { prototype: 1 } };
    const diff = [
      { op: 'add', path: '/nested', value: [{ a: null }] }, { op: 'add', path: '/constructor', value: { prototype: 1 } },
      { op: 'replace', path: '/amount', value: 7.5 }, { op: 'replace', path: '/to', value: 'é/~' },
    ];
    const reply = (await approveBy(admin, request, { [name]: edited, note: 'less' })).expect(200);
    const shown = { by: admin.id, at: expect.any(String), diff: expect.arrayContaining(diff) };
    expect(reply.at('request')).toMatchObject({
      status: 'approved', approvedBy: admin.id, payload: edited, requestedInput: { amount: 10, to: 'x' }, version: 2, edit: shown,
      execution: { status: 'executed' },
    });
    const after = await requestOf(server, request.id);
    expect(after).toMatchObject({ input: edited, requested_input: { amount: 10, to: 'x' }, edit: shown, version: 2 });
    expect(after['edit']).toMatchObject({ diff: expect.objectContaining({ length: 4 }) });
    expect(after.action_digest).not.toBe(before.action_digest);
    expect(await executionOf(server, request.execution)).toMatchObject({ status: 'executed', input: edited, edit: shown });
    const received = receiver.requests.slice(seen);
    expect(received).toHaveLength(1);
    expect(received[0]!.body).toBe('{"amount":7.5,"constructor":{"prototype":1},"nested":[{"a":null}],"to":"é/~"}');
    const entries = (await auditOf(server, request.agent.id)).filter(({ event }) => /^(hitl|execution)/.test(event));
    expect(entries).toMatchObject([
      { event: 'hitl.created' },
      { event: 'hitl.edited', actorId: admin.id, metadata: { hitlId: request.id, version: 2, digest: after.action_digest, input: edited } },
      { event: 'hitl.approved', actorId: admin.id, metadata: { digest: after.action_digest } },
      { event: 'execution.started', metadata: { input: edited } }, { event: 'execution.completed' },
    ]);
    expect(entries[1]!.metadata['diff']).toEqual(expect.arrayContaining(diff));
  });

  test('an agent that waits is told what ran; a licence is for the edited action', async () => {
    const request = await asked();
    const keyed = request.agent.client.with({ 'idempotency-key': 'k' });
    const call = { capability: request.capability, input: { amount: 11 } };
    const waiting = (await keyed.post('/api/v1/execute', call)).expect(202).text('hitlRequestId');
    const held = request.agent.client.post('/api/v1/execute', { ...call, input: { amount: 12 } }, { query: { wait: 50 } });
    const third = await (async () => {
      for (;;) {
        const rows = await server.sql<{ id: string }>(
          `select id from hitl_requests where agent_id = $1 and status = 'pending' and id not in ($2, $3)`,
          [request.agent.id, request.id, waiting]);
        if (rows.length > 0) return rows[0]!.id;
      }
    })();
    (await approveBy(ann!, { id: third }, { editedInput: { amount: 1 } })).expect(200);
    const diff = [{ op: 'replace', path: '/amount', value: 1 }];
    expect((await held).expect(200).body).toMatchObject({ status: 'executed', input: { amount: 1 }, edit: { by: ann!.id, diff } });
    (await approveBy(ann!, { id: waiting }, { editedInput: { amount: 1 } })).expect(200);
    expect((await keyed.post('/api/v1/execute', call)).expect(200).body).toMatchObject({ input: { amount: 1 }, edit: { diff } });
    // Nothing of an edit where there was none.
    (await approveBy(ann!, request)).expect(200);
    for (const shown of [await requestOf(server, request.id), await executionOf(server, request.execution)]) {
      expect(shown).not.toHaveProperty('edit');
    }
  });

  test('what stands there already is no edit; whoever may not approve may not edit along', async () => {
    const same = await asked({ input: { b: [1, 2], a: 1.0 } });
    const reply = (await approveBy(ann!, same, { editedInput: { a: 1, b: [1, 2] } })).expect(200);
    expect(reply.at('request')).toMatchObject({ status: 'approved', version: 1 });
    expect(reply.at('request')).not.toHaveProperty('edit');
    const own = await asked({ context: { on_behalf_of: ann!.id } });
    (await approveBy(ann!, own, { editedInput: LARGE })).expect(403, 'SELF_APPROVAL');
    (await approveBy(await person('member'), own, { editedInput: LARGE })).expect(403, 'NOT_ELIGIBLE');
    expect(await requestOf(server, own.id)).toMatchObject({ status: 'pending', version: 1, input: { amount: 10 } });
  });

  test('a repeated edit answers the same', async () => {
    const request = await asked();
    const keyed = ann!.client.with({ 'idempotency-key': 'edit-1' });
    const first = (await approveBy(keyed, request, { editedInput: LARGE })).expect(200);
    const again = (await approveBy(keyed, request, { editedInput: LARGE })).expect(200);
    expect(again.body).toEqual(first.body);
    (await approveBy(keyed, request, { editedInput: { amount: 2 } })).expect(422, 'IDEMPOTENCY_KEY_REUSED');
  });
});

describe('an edit that decides nothing', () => {
  const matrix = ['propose', 'escalate'].flatMap((mode) => ['propose', 'escalate'].flatMap((edited) => [false, true].flatMap((quorum) =>
    [['standard', 'standard'], ['strict', 'standard'], ['standard', 'strict']].map(([then, now]) => ({ mode, edited, quorum, then, now })))));

  test.each(matrix)('mode $mode, edited into $edited, quorum $quorum, $then then and $now now', async (c) => {
    await separation(c.then as 'strict');
    const conditions = c.edited === 'escalate' ? escalatesAbove(100) : [];
    const request = await asked({
      grant: { hitlMode: c.mode, conditions, ...(c.quorum ? { quorum: { approvals: 2 } } : {}) },
    });
    await separation(c.now as 'strict');
    if (c.quorum) (await approveBy(bob!, request)).expect(200);
    const reply = (await approveBy(ann!, request, { editedInput: LARGE, note: 'more' })).expect(200);
    const decides = c.mode === 'propose' && c.edited === 'propose' && !c.quorum && c.then === 'standard' && c.now === 'standard';
    if (decides) return void expect(reply.at('request')).toMatchObject({ status: 'approved', edit: { diff: GREW } });

    const escalates = c.mode === 'escalate' || c.edited === 'escalate';
    const standing = { status: escalates ? 'escalated' : 'pending', escalationLevel: escalates ? 2 : 0 };
    expect(reply.at('request')).toMatchObject({
      ...standing, hitlMode: escalates ? 'escalate' : 'propose', edit: { by: ann!.id, diff: GREW }, payload: LARGE,
      ...(c.quorum ? { votes: [] } : {}),
    });
    expect(await executionOf(server, request.execution)).toMatchObject({ status: 'pending_hitl', input: LARGE, edit: { diff: GREW } });
    const raised = c.mode === 'propose' && c.edited === 'escalate';
    expect((await eventsOf(server, request.agent.id)).filter((event) => event.startsWith('hitl.'))).toEqual([
      'hitl.created', ...(c.quorum ? ['hitl.voted'] : []), 'hitl.edited', ...(raised ? ['hitl.escalated'] : []),
    ]);

    // Whoever decides it was shown it, and is not who edited it.
    const expectedDigest = reply.text('request.actionDigest');
    (await approveBy(bob!, request)).expect(409, 'HITL_DIGEST_MISMATCH');
    (await rejectBy(bob!, request)).expect(409, 'HITL_DIGEST_MISMATCH');
    (await approveBy(ann!, request, { expectedDigest })).expect(403, 'SELF_APPROVAL');
    if (c.quorum) (await approveBy(await person('admin'), request, { expectedDigest })).expect(200);
    const decided = (await approveBy(bob!, request, { expectedDigest })).expect(200);
    expect(decided.at('request')).toMatchObject({ status: 'approved', approvedBy: bob!.id, execution: { status: 'executed' } });
  });

  test('edited again: the diff is from what was asked, each editor is behind it, and only a cancel needs no digest', async () => {
    const request = await asked({ grant: { hitlMode: 'escalate' } });
    (await approveBy(ann!, request, { editedInput: LARGE })).expect(200);
    (await approveBy(bob!, request, { editedInput: { amount: 3 } })).expect(409, 'HITL_DIGEST_MISMATCH');
    const shown = await digestOf(server, request);
    (await approveBy(bob!, request, { editedInput: { amount: 3 }, expectedDigest: shown })).expect(200);
    (await approveBy(bob!, request, { editedInput: { amount: 4 }, expectedDigest: shown })).expect(409, 'HITL_DIGEST_MISMATCH');
    const edited = await requestOf(server, request.id);
    expect(edited).toMatchObject({
      version: 3, requested_input: { amount: 10 }, edit: { by: bob!.id, diff: [{ op: 'replace', path: '/amount', value: 3 }] },
    });
    for (const editor of [ann!, bob!]) {
      (await approveBy(editor, request, { expectedDigest: edited.action_digest })).expect(403, 'SELF_APPROVAL');
    }
    (await root.post(`/api/v1/hitl/${request.id}/cancel`)).expect(200);
  });

  test('a proposal that stood at the top already is asked about anew: another mode, a new window', async () => {
    const request = await asked({ context: { on_behalf_of: 'somebody@elsewhere.example' }, grant: { conditions: escalatesAbove(100) } });
    await server.sql(`update hitl_requests set expires_at = expires_at - interval '10 minutes' where id = $1`, [request.id]);
    const before = await requestOf(server, request.id);
    expect(before).toMatchObject({ status: 'pending', escalation_level: 2 });
    (await approveBy(ann!, request, { editedInput: LARGE })).expect(200);
    const after = await requestOf(server, request.id);
    expect(after).toMatchObject({ status: 'escalated', escalation_level: 2, hitl_mode: 'escalate' });
    expect(Date.parse(after['expires_at'] as string)).toBeGreaterThan(Date.parse(before['expires_at'] as string));
  });
});

describe('what an edit may not be', () => {
  test('it fits schema and connector, and is not blocked: else nothing changes', async () => {
    const request = await connected({ grant: { conditions: [{ when: 'input.amount > 1000', hitlMode: 'block' }] } });
    const admin = await aPerson(server, 'admin');
    const before = await requestOf(server, request.id);
    const entries = await eventsOf(server, request.agent.id);
    const wrong: [object, number, string, string?][] = [
      [{ amount: -1, to: 'x' }, 422, 'INVALID_INPUT', '/editedInput/amount'], [{ to: 'x' }, 422, 'INVALID_INPUT'],
      [{ amount: 1 }, 422, 'INVALID_INPUT'], [{ amount: 1, to: '..' }, 422, 'INVALID_INPUT'],
      [{ amount: 1_001, to: 'x' }, 403, 'CAPABILITY_BLOCKED'],
    ];
    for (const [editedInput, status, code, pointer] of wrong) {
      const reply = (await approveBy(admin, request, { editedInput })).expect(status, code);
      if (pointer !== undefined) expect(reply.at('errors')).toMatchObject([{ pointer }]);
    }
    for (const editedInput of [null, [], 'x', 5]) (await approveBy(admin, request, { editedInput })).expect(400, 'VALIDATION_FAILED');
    expect(await requestOf(server, request.id)).toEqual(before);
    expect(await eventsOf(server, request.agent.id)).toEqual(entries);
  });

  test('a share of the limits that the edited action would have', async () => {
    const limits = [{ max: 100, per: 'day', sum: 'input.amount', then: 'escalate' }];
    const request = await asked({ grant: { hitlMode: 'auto', conditions: [{ when: 'input.amount < 11', hitlMode: 'propose' }], limits } });
    const totals = async () => (await server.sql<{ amount: string }>(
      'select t.amount::float8::text as amount from grant_totals t join hitl_requests q on q.grant_id = t.grant_id where q.id = $1', [request.id]));
    expect(await totals()).toEqual([{ amount: '10' }]);
    // Its own share is left out: 100 is not too much, and 101 is.
    (await approveBy(ann!, request, { editedInput: { amount: 101 } })).expect(200);
    expect(await requestOf(server, request.id)).toMatchObject({ status: 'escalated', hitl_mode: 'escalate' });
    expect(await totals()).toEqual([{ amount: '101' }]);
    // While it waits it has the share of what would run: not a cent is left for another call.
    const call = { capability: request.capability, input: { amount: 50 } };
    expect((await request.agent.client.post('/api/v1/execute', call)).expect(202).body).toMatchObject({ effectiveMode: 'escalate' });
    const second = await digestOf(server, request);
    (await approveBy(ann!, request, { editedInput: { amount: 20 }, expectedDigest: second })).expect(200);
    expect(await totals()).toEqual([{ amount: '70' }]);
    (await approveBy(bob!, request, { expectedDigest: await digestOf(server, request) })).expect(200);
    expect(await totals()).toEqual([{ amount: '70' }]);
    const blocking = await asked({ grant: { limits: [{ max: 15, per: 'total', sum: 'input.amount', then: 'block' }] } });
    (await approveBy(ann!, blocking, { editedInput: { amount: 15.5 } })).expect(403, 'CAPABILITY_BLOCKED');
    (await approveBy(ann!, blocking, { editedInput: { amount: 15 } })).expect(200);
  });

  test('no cure for what may no longer run, or was tampered with', async () => {
    const gone = await asked();
    (await root.post(`/api/v1/agents/${gone.agent.id}/deactivate`)).expect(200);
    const forged = await asked();
    await server.sql(`update hitl_requests set input = '{"amount":5000}' where id = $1`, [forged.id]);
    for (const request of [gone, forged]) {
      (await approveBy(ann!, request, { editedInput: { amount: 2 } })).expect(409, 'NOT_EXECUTABLE');
      expect(await requestOf(server, request.id)).toMatchObject({ status: 'cancelled', decided_by: 'system' });
    }
    // But what is blocked now may be edited into what is not.
    const tightened = await asked();
    await configure(tightened, { conditions: [{ when: 'input.amount > 5', hitlMode: 'block' }] });
    (await approveBy(ann!, tightened, { editedInput: { amount: 5 } })).expect(200);
    expect(await requestOf(server, tightened.id)).toMatchObject({ status: 'approved' });
  });

  test('edited bytes that were changed by hand between approval and run do not run', async () => {
    const request = await connected();
    const seen = receiver.requests.length;
    await pauseOutbox(server);
    try {
      (await approveBy(await aPerson(server, 'admin'), request, { editedInput: { amount: 1, to: 'y' } })).expect(200);
      await server.sql('update hitl_requests set input = requested_input where id = $1', [request.id]);
    } finally {
      await resumeOutbox(server);
    }
    expect(await executionBecomes(server, request.execution, 'cancelled', 30_000)).toMatchObject({ reason: 'digest_mismatch' });
    expect(receiver.requests).toHaveLength(seen);
  });

  test('the approval of somebody below level 2 does not run what became `escalate` after it', async () => {
    const member = await aPerson(server, 'member');
    const teamId = await aTeam(server, member.organizationId, [{ userId: member.id }]);
    const request = await connected({ teamId });
    await pauseOutbox(server);
    try {
      (await approveBy(member, request, { editedInput: { amount: 50, to: 'y' } })).expect(200);
      await configure(request, { conditions: escalatesAbove(20) });
    } finally {
      await resumeOutbox(server);
    }
    expect(await executionBecomes(server, request.execution, 'cancelled', 30_000)).toMatchObject({ reason: 'escalation_needed' });
  });
});

test('an edit and an approval at once on two servers: nobody approves what they were not shown', async () => {
  for (let round = 0; round < 30; round++) {
    const request = await asked({ grant: { hitlMode: round % 2 === 0 ? 'escalate' : 'propose' } });
    const [edit, approval] = await Promise.all([
      approveBy(ann!, request, { editedInput: LARGE }), approveBy(as(other, bob!.key), request),
    ]);
    expect([edit.status, approval.status].sort()).toEqual([200, 409]);
    const { input, decided_by: by } = await requestOf(server, request.id);
    if (approval.status === 200) expect([input, by]).toEqual([{ amount: 10 }, bob!.id]);
    else expect([input, by]).toEqual([LARGE, round % 2 === 0 ? null : ann!.id]);
  }
});
