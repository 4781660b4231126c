import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { EndedExecutionsStore } from '../../../src/modules/executions/ended-executions.store.js';
import { EndedRequestsStore } from '../../../src/modules/hitl/requests/ended-requests.store.js';
import { EndedRecordKeepers } from '../../../src/platform/audit/ended-records.js';
import type { Tx } from '../../../src/platform/database/transaction/tx.js';
import { asRoot } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { erased } from '../../support/erasure/erasures.js';
import { executionBecomes } from '../../support/builders/gate.js';
import { known, type Known } from '../../support/memory/decided-log.js';
import { type Receiver, startReceiver } from '../../support/http/receiver.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { verifiedLog } from '../../support/log/verified-log.js';

let server: TestServer;
let receiver: Receiver;
let organizationId: string;
let people: Known[];
let agent: BuiltAgent;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startServer({ env: { OUTBOUND_ALLOW: receiver.destination } });
  organizationId = (await asRoot(server).post('/api/v1/organizations', { name: 'Shown' })).expect(201).text('organization.id');
  people = await Promise.all(['owner', 'admin', 'admin'].map((role) => known(server, role, organizationId)));
  (await people[0]!.client.post('/api/v1/capabilities', {
    name: 'crm.push', description: 'pushes',
    connector: { type: 'http', method: 'POST', url: receiver.url, body: '{input}', timeoutSeconds: 1 },
  })).expect(201);
  agent = await anAgent(server).inOrganization(organizationId).granted('web.search').granted('email.send', { hitlMode: 'propose' })
    .granted('crm.push').granted('data.write', { hitlMode: 'propose', quorum: { approvals: 2 } })
    .granted('file.delete', { hitlMode: 'block' }).create();
});

afterAll(async () => {
  await server.stop();
  await receiver.close();
});

const run = (capability: string, input: object, more: object = {}) => agent.client.post('/api/v1/execute', { capability, input, ...more });
const breaks = async () => (await verifiedLog(server.database.url)).breaks.map(({ kind, detail }) => `${kind}: ${detail}`);
const decide = (person: Known, id: string, word: string, body: object = {}) =>
  person.client.post(`/api/v1/hitl/${id}/${word}`, body, word === 'approve' ? { query: { wait: 5 } } : {});

/** Does it, looks, and undoes it. */
async function lookedAt(table: string, change: string, parameters: readonly unknown[] = []): Promise<string[]> {
  await server.sql(`create table kept as select * from ${table}`);
  try {
    const changed = await server.sql(`${change} returning 1 as one`, parameters);
    expect(changed.length).toBeGreaterThan(0);
    return await breaks();
  } finally {
    await server.database.asSuperuser(`truncate ${table}`, `insert into ${table} select * from kept`);
    await server.sql('drop table kept');
  }
}

const marked = (members: number, of: (n: number) => unknown): object =>
  Object.fromEntries(Array.from({ length: members }, (_, n) => [n === 0 ? '[erased]' : `[erased] ${n + 1}`, of(n)]));

describe('nothing is wrong', () => {
  const ODD: readonly (readonly [string, object])[] = [
    ['letters of all kinds', { grüße: 'Ω≈ç√ \u0001 \u2028 "\\', '😀': '👩‍👩‍👧', a: 'e\u0301', b: 'é' }],
    ['numbers', { big: 9.007e15, small: 1e-7, zero: -0, safe: 9_007_199_254_740_991, negative: -1.5e-10, float: 0.1 }],
    ['names that sort oddly', { 10: 1, 2: 2, '': 3, '~': 4, '/': 5, __proto__x: 6, '\u20ac': 7, '\ud83d\ude00': 8, '\ufb33': 9 }],
    ['a text that is literally "[erased]"', { to: '[erased]', '[erased]': 'x', '[erased] 2': { deep: ['[erased]'] } }],
    ['names that all look erased', marked(30, () => marked(60, (n) => n))],
    ['many members', Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`m${i}`, i]))],
    ['a lot of it', { text: 'ä'.repeat(20_000), more: '[erased]'.repeat(50) }],
    ['nothing', {}],
    ['deep', JSON.parse(`${'{"a":'.repeat(40)}[null,true,[]]${'}'.repeat(40)}`) as object],
  ];

  test.each(ODD)('with an input of %s', async (_, input) => {
    const more = { context: { about: input }, action: '“quoted” [erased] \u00e9' };
    (await run('web.search', input, more)).expect(200);
    (await run('file.delete', input, more)).expect(200);
    const asked = (await run('email.send', input, more)).expect(202).text('hitlRequestId');
    const editedInput = { ...input, edited: ['yes', input] };
    (await decide(people[1]!, asked, 'approve', { editedInput, note: '{"not":"json", [erased]' })).expect(200);
    const rejected = (await run('email.send', input, more)).expect(202).text('hitlRequestId');
    (await decide(people[1]!, rejected, 'reject', { comment: '\u{1F600}'.repeat(300) })).expect(200);
    expect(await breaks()).toEqual([]);
  });

  test.each([
    ['no object', [1, { b: 2, a: 1e-21 }, 'x']], ['null', null],
    ['long, cut within a pair', { t: `${'a'.repeat(993)}${'😀'.repeat(30)}` }],
    ['"[erased]"', '[erased]'], ['of a thousand characters', 'y'.repeat(998)], ['longer', 'ü'.repeat(1_500)],
  ])('with an output that is %s', async (_, body) => {
    receiver.script({ body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
    (await run('crm.push', { n: 1 })).expect(200);
    receiver.script({ body: JSON.stringify(body), status: 500, headers: { 'content-type': 'application/json' } });
    await run('crm.push', { n: 1 });
    expect(await breaks()).toEqual([]);
  });

  test('with reports, a settlement, votes, a batch, an escalation, a withdrawal, and calls that are answered again', async () => {
    const reports = [
      { output: [1, 2], durationMs: 5 }, { output: null }, { output: { b: '[erased]', a: 1e-21 } }, { error: { code: 'E' } },
    ];
    for (const said of reports) {
      const id = (await run('web.search', { said })).expect(200).text('executionId');
      (await agent.client.post(`/api/v1/executions/${id}/report`, { outcome: 'success', ...said })).expect(200);
    }
    receiver.script({ hang: 'before headers' });
    const lost = (await run('crm.push', { n: 2 })).text('executionId');
    await executionBecomes(server, lost, 'indeterminate', 20_000);
    (await people[0]!.client.post(`/api/v1/executions/${lost}/settle`, { outcome: 'success', note: 'I asked them' })).expect(200);
    const [first, second, third] = await Promise.all([1, 2, 3].map(async (n) =>
      (await run('data.write', { n })).expect(202).text('hitlRequestId')));
    (await decide(people[1]!, first!, 'approve', { note: 'one' })).expect(200);
    (await decide(people[2]!, first!, 'approve', { note: 'two' })).expect(200);
    (await decide(people[1]!, second!, 'approve')).expect(200);
    (await decide(people[0]!, second!, 'approve', { breakGlass: true, note: 'it burns' })).expect(200);
    (await decide(people[1]!, third!, 'escalate', { reason: 'unsure' })).expect(200);
    (await agent.client.post(`/api/v1/hitl/${third!}/cancel`, { comment: 'never mind' })).expect(200);
    const key = { headers: { 'Idempotency-Key': randomBytes(8).toString('hex') } };
    for (let i = 0; i < 2; i++) {
      const body = { capability: 'web.search', input: { i: 1 }, context: { on_behalf_of: people[1]!.id } };
      await agent.client.post('/api/v1/execute', body, key);
    }
    (await asRoot(server).post('/api/v1/execute', { capability: 'web.search', agentId: agent.id, input: {} })).expect(200);
    expect(await breaks()).toEqual([]);
  });
});

test('what was erased agrees with what is erased, and nothing beside it may change', async () => {
  const customer = `Grace Hopper-${randomBytes(3).toString('hex')}`;
  const input = { to: customer, amount: 5, [`of ${customer}`]: 1 };
  const id = (await run('web.search', input, { context: { on_behalf_of: people[1]!.id, who: customer }, action: `to ${customer}` }))
    .expect(200).text('executionId');
  (await agent.client.post(`/api/v1/executions/${id}/report`, { outcome: 'success', output: { to: customer, sum: 7 } })).expect(200);
  const [mail, many] = [await run('email.send', input), await run('data.write', input)].map((one) => one.expect(202).text('hitlRequestId'));
  (await decide(people[1]!, mail!, 'approve', { editedInput: { ...input, amount: 6 }, note: `for ${customer}` })).expect(200);
  (await decide(people[1]!, many!, 'approve', { note: `for ${customer}` })).expect(200);
  (await decide(people[2]!, many!, 'approve', { note: 'fine' })).expect(200);
  receiver.script({ body: { to: customer, rest: 'z'.repeat(2_000) } });
  (await run('crm.push', { n: 3 })).expect(200);
  expect(await breaks()).toEqual([]);

  // On one side alone, as it is for a while in the middle of an erasure.
  await server.sql('create table before_erasure as select * from executions');
  await server.sql('create table requests_before_erasure as select * from hitl_requests');
  const asked = (await people[0]!.client.post('/api/v1/audit/erasures', { values: [customer], reason: 'asked' })).expect(202);
  (await people[1]!.client.post(`/api/v1/audit/erasures/${asked.text('erasure.id')}/confirm`)).expect(200);
  await erased(server);
  const [row] = await server.sql<{ input: string }>('select input from executions where id = $1', [id]);
  expect(JSON.parse(row!.input)).toEqual({ to: '[erased]', amount: 5, '[erased]': 1 });
  expect(await breaks()).toEqual([]);
  await server.sql('create table after_erasure as select * from executions');
  await server.database.asSuperuser('truncate executions', 'insert into executions select * from before_erasure');
  expect(await breaks()).toEqual([]);
  await server.database.asSuperuser('truncate executions', 'insert into executions select * from after_erasure');

  const others = ['{"[erased]":1,"amount":50000,"to":"[erased]"}', '{"[erased]":1,"amount":5,"approvedBy":"the CEO","to":"[erased]"}'];
  for (const shown of others) {
    const other = await lookedAt('executions', 'update executions set input = $2 where id = $1', [id, shown]);
    expect(other).toEqual([expect.stringMatching(/^incomplete: execution exec_\w+ has another input than its entries say$/)]);
  }
  const report = await lookedAt('executions', 'update executions set report = $2 where id = $1',
    [id, '{"outcome":"success","output":{"to":"[erased]","sum":8},"at":"2026-01-01T00:00:00.000Z"}']);
  expect(report).toEqual([expect.stringMatching(/^incomplete: the report on execution exec_\w+ has another output than its entries say$/)]);
  expect(await lookedAt('hitl_requests', 'update hitl_requests set note = null where id = $1', [mail])).toEqual([]);
  expect(await lookedAt('hitl_requests', `update hitl_requests set reasons = '[]' where id = $1`, [many]))
    .toEqual([expect.stringMatching(/^incomplete: request hitl_\w+ has another reasons than its entries say$/)]);

  // A person who acted and is named: rows of whom entries concern stay, whatever was erased.
  (await asRoot(server).delete(`/api/v1/users/${people[1]!.id}/data`)).expect(200);
  await erased(server);
  expect(await breaks()).toEqual([]);
});

describe('the mark in a text of a row stands for nothing but a whole text, number or name', () => {
  let asked: string;
  let done: string;

  beforeAll(async () => {
    done = (await run('web.search', { q: 'harmless', n: 5 }, { action: 'looks something up' })).expect(200).text('executionId');
    asked = (await run('email.send', { to: 'alice@a.example', sum: 7 }, { action: 'sends a note' })).expect(202).text('hitlRequestId');
    (await decide(people[2]!, asked, 'reject', { comment: 'Never. This must not be sent.' })).expect(200);
    receiver.script({ body: { to: 'alice', list: ['a', 'b'], sum: 7 } });
    (await run('crm.push', { n: 4 })).expect(200);
  });

  test.each<[string, string, string, string]>([
    ['hitl_requests', 'note', 'Gladly. I, the administrator, have nothing against it. [erased]', 'a note'],
    ['hitl_requests', 'note', '[erased] This must not be sent.', 'a note of which a part is left'],
    ['hitl_requests', 'action', 'pays Mallory 1,000,000 [erased]', 'an action'],
    ['hitl_requests', 'input', '{"new":["any",{"x":"[erased]"}],"sum":"1000000 [erased]","to":"mallory@m.example [erased]"}', 'an input'],
    ['hitl_requests', 'input', '{"new":"[erased]","sum":7,"to":"alice@a.example"}', 'one more member'],
    ['hitl_requests', 'input', '{"[erased]":1000000,"to":"alice@a.example"}', 'another value under a name that is gone'],
    ['hitl_requests', 'context', '{"why":"[erased]"}', 'a context where there was none'],
    ['hitl_requests', 'escalation_reason', '[erased]', 'a reason where there was none'],
    ['executions', 'action', 'pays Mallory [erased]', 'an action'],
    ['executions', 'input', '{"n":5,"q":"pay mallory 1000000 [erased]"}', 'an input'],
    ['executions', 'input', '{"n":500,"q":"[erased]"}', 'another number beside it'],
    ['executions', 'input', '{"n":500,"n":5,"q":"[erased]"}', 'another number, said before the right one'],
    ['executions', 'reasons', '[{"rule":"grant_mode","detail":"The board has approved this. [erased]"}]', 'reasons'],
    ['executions', 'error', '{"code":"E","message":"[erased]"}', 'an error where there was none'],
  ])('%s.%s = %s: %s', async (table, column, value) => {
    const found = await lookedAt(table, `update ${table} set ${column} = $2 where id = $1`, [table === 'executions' ? done : asked, value]);
    expect(found).toEqual([expect.stringMatching(/^incomplete: (request|execution) \w+ has another \w+ than its entries say$/)]);
  });

  test('the note of a vote, where the request shows none', async () => {
    const many = (await run('data.write', { n: 9 })).expect(202).text('hitlRequestId');
    for (const one of [2, 0]) (await decide(people[one]!, many, 'approve', { note: 'not before May' })).expect(200);
    const last = `request_id = $1 and voter = '${people[0]!.id}'`;
    await server.sql('create table kept_votes as select * from hitl_votes');
    const found: string[][] = [];
    for (const note of ['[erased]', 'at once']) {
      const change = `with votes as (update hitl_votes set note = '${note}' where ${last})
        update hitl_requests set note = '[erased]' where id = $1`;
      found.push(await lookedAt('hitl_requests', change, [many]));
      await server.database.asSuperuser('truncate hitl_votes', 'insert into hitl_votes select * from kept_votes');
    }
    await server.sql('drop table kept_votes');
    expect(found).toEqual([[], [expect.stringMatching(/^incomplete: request hitl_\w+ has another note than its entries say$/)]]);
  });

  test.each([
    ['{"list":["a","b"],"sum":8,"to":"alice"}', false], ['{"list":["a","b"],"sum":8,"to":"[erased] alice"}', false],
    ['{"list":["a","b"],"sum":7,"to":"bob [erased]"}', false], ['{"list":["[erased]","b"],"sum":"[erased]","to":"[erased]"}', true],
  ])('an output, %s', async (output, isLeft) => {
    const found = await lookedAt('executions', `update executions set output = $1 where output = '{"list":["a","b"],"sum":7,"to":"alice"}'`,
      [output]);
    expect(found).toEqual(isLeft ? [] : [expect.stringMatching(/^incomplete: execution \w+ has another output than its entries say$/)]);
  });
});

test('what retention of records has blanked is not compared, and what it does not leave so is', async () => {
  const tx = { query: (text: string, parameters: unknown[]) => server.sql(text, parameters) } as unknown as Tx;
  const tomorrow = new Date(Date.now() + 86_400_000);
  const keepers = new EndedRecordKeepers();
  expect((await new EndedExecutionsStore(keepers).blank(tx, tomorrow, 1_000)).blanked).toBeGreaterThan(10);
  expect((await new EndedRequestsStore(keepers).blank(tx, tomorrow, 1_000)).blanked).toBeGreaterThan(5);
  expect(await breaks()).toEqual([]);
  const blank = `id = (select id from executions where closed_at is not null and input = '{}' and settlement is null order by id limit 1)`;
  expect(await lookedAt('executions', `update executions set input = '{"n":0}' where ${blank}`))
    .toEqual([expect.stringMatching(/has another input than its entries say/)]);
  expect(await lookedAt('executions', `update executions set output = '7' where ${blank}`))
    .toEqual([expect.stringMatching(/has another (input; another )?(context; another )?.*output than its entries say/)]);
  for (const error of ['"x"', '{"code":"X","message":"","more":1}']) {
    const found = await lookedAt('executions', `update executions set error = $1 where ${blank}`, [error]);
    expect(found.join()).toMatch(/has another .*error/);
  }
  expect((await lookedAt('executions', `update executions set settlement = jsonb_set(settlement::jsonb, '{note}', '"no"')::json
    where settlement is not null`)).join()).toMatch(/the settlement of execution exec_\w+ has another note than its entries say/);
  expect((await lookedAt('hitl_requests', `update hitl_requests set note = 'x' where status <> 'pending'`)).join())
    .toMatch(/request hitl_\w+ has another .*note than its entries say/);
});
