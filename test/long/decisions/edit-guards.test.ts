import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { as, asRoot, type Client } from '../../support/http/actors.js';
import { type AskedRequest, type AskedTerms, approveBy, aRequest, digestOf } from '../../support/builders/requests.js';
import { eventsOf } from '../../support/log/entries.js';
import { defineCapability, executionBecomes, executionOf, pauseOutbox, requestOf, resumeOutbox } from '../../support/builders/gate.js';
import {
  anOrganization, aPerson, aTeam, firstOrganization, type BuiltPerson, type PersonTerms, type Role,
} from '../../support/builders/people.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { makeDue, sweptTo } from '../../support/hitl/due-requests.js';

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
const configure = async ({ agent, capability }: AskedRequest, terms: object) =>
  (await root.patch(`/api/v1/agents/${agent.id}/capabilities/${capability}`, terms)).expect(200);
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
    const totals = () => server.sql<{ amount: string }>(
      `select t.amount::float8::text as amount from grant_totals t join hitl_requests q on q.grant_id = t.grant_id
       where q.id = $1`, [request.id]);
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

describe('an edit that nobody else has looked at', () => {
  test('is not approved by time, whatever the grant says', async () => {
    const request = await asked({ grant: { hitlTimeoutAction: 'approve' } });
    (await root.patch(`/api/v1/organizations/${organizationId}`, { settings: { separationOfDuties: 'strict' } })).expect(200);
    (await approveBy(ann!, request, { editedInput: LARGE })).expect(200);
    await makeDue(server, [request.id]);
    expect(await sweptTo(server, request.id, 'timed_out')).toMatchObject({ decision: { outcome: 'rejected', by: 'timeout' } });
    expect(await executionOf(server, request.execution)).toMatchObject({ status: 'cancelled' });
  });
});

test('time no longer approves what the grant no longer lets it', async () => {
  const request = await asked({ grant: { hitlTimeoutAction: 'approve' } });
  await configure(request, { hitlTimeoutAction: 'reject' });
  await makeDue(server, [request.id]);
  await sweptTo(server, request.id, 'timed_out');
});

test('a batch approves nothing that an admin has to look at by now', async () => {
  const request = await asked();
  await configure(request, { conditions: escalatesAbove(1) });
  const items = [{ id: request.id, expectedDigest: await digestOf(server, request) }];
  const reply = (await ann!.client.post('/api/v1/hitl/batch', { items, decision: 'approve' })).expect(200);
  expect(reply.at('results.0')).toMatchObject({ status: 409, error: { code: 'NOT_EXECUTABLE' } });
  expect(await requestOf(server, request.id)).toMatchObject({ status: 'escalated', escalation_level: 2 });
});

test('an edit deep within a wide input answers, and the server goes on answering', async () => {
  const wide = Array.from({ length: 12_000 }, (_, n) => n);
  const nested = (last: number) => Array.from({ length: 50 }).reduce<unknown>((inner) => [inner], [...wide, last]);
  const request = await asked({ input: { amount: 10, deep: nested(1) } });
  const reply = (await approveBy(ann!, request, { editedInput: { amount: 10, deep: nested(2) } })).expect(200);
  // Paths of that depth to so many places would outgrow the input: the innermost list is replaced.
  expect(reply.at('request.edit.diff')).toEqual([{ op: 'replace', path: expect.stringMatching(/^\/deep(\/0)+$/), value: [...wide, 2] }]);
});

test('whatever is edited: a milder approval never satisfies `escalate`, and nobody approves a large one of their own', async () => {
  const members = [await person('member'), await person('member')];
  const teamId = await aTeam(server, organizationId, members.map(({ id }) => ({ userId: id })));
  const people = [...members, ann!, bob!, ann!, bob!];
  const conditions = [...escalatesAbove(100), { when: 'input.amount > 1000', hitlMode: 'block' }];
  const step = fc.record({
    by: fc.integer({ min: 0, max: people.length - 1 }), shown: fc.constantFrom(true, true, false),
    amount: fc.option(fc.constantFrom(1, 100, 101, 1_000, 1_001), { nil: undefined, freq: 3 }),
  });
  const outcomes = new Set<string>();
  await fc.assert(fc.asyncProperty(fc.constantFrom(10, 101), fc.array(step, { minLength: 2, maxLength: 6 }), async (amount, steps) => {
    const request = await asked({ teamId, input: { amount }, grant: { conditions } });
    const editors = new Set<string>();
    for (const { by, shown, amount: edited } of steps) {
      const [who, before] = [people[by]!, await requestOf(server, request.id)];
      const body = {
        ...(shown ? { expectedDigest: before.action_digest } : {}), ...(edited === undefined ? {} : { editedInput: { amount: edited } }),
      };
      const { status } = await approveBy(who, request, body);
      expect([200, 403, 409]).toContain(status);
      const after = await requestOf(server, request.id);
      const is = after['input'] as { amount: number };
      expect(is.amount).toBeLessThanOrEqual(1_000);
      if (status !== 200) expect(after).toEqual(before);
      if (after['version'] !== before['version']) expect(after['edit']).toMatchObject({ by: who.id });
      if (after.status === 'approved') {
        expect(editors).not.toContain(who.id);
        if (is.amount > 100 || after['hitl_mode'] === 'escalate') {
          expect([who.role, after['version']]).toEqual(['admin', before['version']]);
        }
        expect(await executionOf(server, request.execution)).toMatchObject({ status: 'executed', input: is });
        outcomes.add(after['version'] === 1 ? 'as asked' : editors.size === 0 ? 'edited along' : 'edited by another');
        return;
      }
      if (after['version'] !== before['version']) editors.add(who.id);
    }
    outcomes.add('open');
  }), { numRuns: 60, seed: 56 });
  expect([...outcomes].sort()).toEqual(['as asked', 'edited along', 'edited by another', 'open']);
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
