import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { type AskedRequest, type AskedTerms, approveBy, aRequest, digestOf, rejectBy } from '../../support/builders/requests.js';
import { auditOf, eventsOf } from '../../support/log/entries.js';
import { defineCapability, executionOf, requestOf } from '../../support/builders/gate.js';
import {
  anOrganization, aPerson, firstOrganization, type BuiltPerson, type PersonTerms, type Role,
} from '../../support/builders/people.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
let root: Client;
let receiver: Receiver;

beforeAll(async () => {
  [server, receiver] = await Promise.all([startServer(), startReceiver()]);
  root = asRoot(server);
});

afterAll(async () => {
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
    expect((after['edit'] as { diff: unknown[] }).diff).toHaveLength(4);
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
  const settings = [['standard', 'standard'], ['strict', 'standard'], ['standard', 'strict']] as const;
  const matrix = (['propose', 'escalate'] as const).flatMap((mode) => (['propose', 'escalate'] as const).flatMap((edited) =>
    [false, true].flatMap((quorum) => settings.map(([then, now]) => ({ mode, edited, quorum, then, now })))));

  test.each(matrix)('mode $mode, edited into $edited, quorum $quorum, $then then and $now now', async (c) => {
    await separation(c.then);
    const conditions = c.edited === 'escalate' ? escalatesAbove(100) : [];
    const request = await asked({
      grant: { hitlMode: c.mode, conditions, ...(c.quorum ? { quorum: { approvals: 2 } } : {}) },
    });
    await separation(c.now);
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
