import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../src/domain/ids.js';
import type { Verification } from '../../../src/modules/audit/verification/verification-result.js';
import { asRoot } from '../../support/http/actors.js';
import { aDecidedLog, type DecidedLog, recordedInFull } from '../../support/memory/decided-log.js';
import { type Receiver, startReceiver } from '../../support/http/receiver.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { verifiedLog } from '../../support/log/verified-log.js';

let server: TestServer;
let receiver: Receiver;
let story: DecidedLog;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startServer({ env: { OUTBOUND_ALLOW: receiver.destination } });
  story = await aDecidedLog(server, receiver);
  await recordedInFull(server, story);
});

afterAll(async () => {
  await server.stop();
  await receiver.close();
});

const verified = (agentId?: string): Promise<Verification> => verifiedLog(server.database.url, agentId);

const judged = ({ members }: Verification) =>
  members as unknown as { completeness: { checked: number; breaks: number }; replay: { wrong: number } };

test('a story in which everything happens is complete, and the gate was right in all of it', async () => {
  const outcome = await verified();
  expect(outcome.breaks).toEqual([]);
  expect(outcome).toMatchObject({ valid: true, members: { completeness: { breaks: 0 }, replay: { wrong: 0 } } });
  expect(outcome.members).toMatchObject({ replay: { notReplayable: { limits: expect.any(Number) } } });
  const [rows] = await server.sql<{ count: string }>(`select (select count(*) from executions) + (select count(*) from hitl_requests)
    + (select count(*) from capability_grants) + (select count(*) from executions where report is not null)
    + (select count(*) from hitl_votes v where not exists (select from hitl_requests q where q.decision_entry_id = v.entry_id)) as count`);
  expect(judged(outcome).completeness.checked).toBe(Number(rows!.count));
  const one = await verified(story.agent.id);
  expect(one).toMatchObject({ valid: true, chains: 1, members: { completeness: { breaks: 0 }, replay: { wrong: 0 } } });
});

test('the API answers it to root and, of their organization, to an administrator', async () => {
  for (const client of [asRoot(server), story.admin.client]) {
    const reply = (await client.get('/api/v1/audit/verify')).expect(200);
    expect(reply.body).toMatchObject({
      valid: true, completeness: { checked: expect.any(Number), breaks: 0 }, replay: { right: expect.any(Number), wrong: 0 },
    });
    expect(reply.number('replay.right')).toBeGreaterThan(20);
  }
});

test('stays true while calls go on', async () => {
  const calls = Array.from({ length: 300 }, (_, i) => story.agent.client.post('/api/v1/execute',
    { capability: i % 3 === 0 ? 'db:mutate' : 'calendar.write', input: { i } }));
  for (let i = 0; i < 3; i++) expect((await verified()).breaks).toEqual([]);
  await Promise.all(calls);
  expect((await verified()).breaks).toEqual([]);
});

/** Columns that only show something, and how somebody would change them. */
const SHOWN_BY_EXECUTIONS = [
  ['input', `input = '{"to":"nobody"}'`], ['context', `context = '{"case":"other"}'`], ['action', `action = 'something else'`],
  ['reasons', `reasons = '[{"rule":"mine","detail":"I said so"}]'`], ['output', `output = '{"sent":true}' where status = 'executed'`],
  ['error', `error = '{"code":"X","message":"it failed"}'`], ['diff', `edit = json_build_object('by', edit ->> 'by', 'at', now(), 'diff',
    json_build_array()) where edit is not null`],
  ['editor', `edit = jsonb_set(edit::jsonb, '{by}', '"usr_x"')::json where edit is not null`],
] as const;
const SHOWN_BY_REQUESTS = [
  ['input', `input = '{"to":"nobody"}'`], ['context', `context = '{"case":"other"}'`], ['action', `action = 'something else'`],
  ['reasons', `reasons = '[]' where version = 1`], ['note', `note = 'gladly'`], ['escalationReason', `escalation_reason = 'no idea'`],
  ['requestedInput', `requested_input = '{}' where requested_input is not null`], ['diff', `edit_diff = '[]' where edited_by is not null`],
] as const;

/** What rows show that no entry tells of, each row put in the place of one that is there. */
const SHOWN_WITHOUT_ENTRY: readonly [string, string, RegExp][] = [
  ['a report that is a text', `update executions set report = '"done, says the agent: paid 1,000,000 EUR"' where report is null`,
    /^execution exec_\w+ shows something else than its report, which no entry can record$/],
  ['a report that is a list', `update executions set report = '[{"outcome":"success","output":{"paid":1000000}}]' where report is null`,
    /shows something else than its report/],
  ['a text in the place of a report that was made', `update executions set report = '"paid"' where report is not null`,
    /^the report on execution exec_\w+ is gone: entry \d+/],
  ['a settlement that is a list', `update executions set settlement = '[{"outcome":"success","by":"root","note":"fine"}]'`,
    /shows something else than its settlement/],
  ['an edit that is a list', `update executions set edit = '[{"by":"root","diff":[]}]' where edit is null`,
    /shows something else than its edit/],
  ['more in a report', `update executions set report = (report::jsonb || '{"approvedBy":"usr_ceo"}')::json where report is not null`,
    /shows more in its report than such a one has/],
  ['more in an edit', `update executions set edit = (edit::jsonb || '{"reason":"the CEO said so"}')::json where edit is not null`,
    /shows more in its edit than such a one has/],
  ['a report at no time', `update executions set report = (report::jsonb || '{"at":"approved by the CEO"}')::json
    where report is not null`,
    /shows no time of its report/],
  ['an edit at no time', `update executions set edit = (edit::jsonb || '{"at":"never"}')::json where edit is not null`,
    /shows no time of its edit/],
  ["a report's output under another name", `update executions set report = '{"outcome":"success","result":{"sent":false},"durationMs":5,
    "at":"2026-01-01T00:00:00.000Z"}' where report is not null`, /shows more in its report than such a one has/],
  ["a report's output gone", `update executions set report = (report::jsonb - 'output')::json where report is not null`,
    /^the report on execution exec_\w+ has another output than its entries say$/],
  ["a report's duration in words", `update executions set report = (report::jsonb || '{"durationMs":"long"}')::json
    where report is not null`, /has durationMs "long", its entries say 5$/],
  ["a report's duration as a text", `update executions set report = (report::jsonb || '{"durationMs":"5"}')::json
    where report is not null`, /has durationMs "5", its entries say 5$/],
  ['why one was done', `update executions set reason = 'approved by usr_ceo, who signed for it' where status = 'executed'`,
    /has reason approved by usr_ceo, who signed for it, its entries say nothing$/],
  ['a request of a blocked one', `update executions set hitl_request_id = 'hitl_x' where status = 'blocked'`,
    /has hitlId hitl_x, its entries say nothing$/],
  ['how long a blocked one took', `update executions set duration_ms = 4711 where status = 'blocked'`,
    /has durationMs 4711, its entries say nothing$/],
  ['how long a cancelled one took', `update executions set duration_ms = 4711 where status = 'cancelled'`,
    /has durationMs 4711, its entries say nothing$/],
  ['how long a waiting one took', `update executions set duration_ms = 4711 where status = 'pending_hitl'`,
    /has durationMs 4711, its entries say nothing$/],
  ['an edit that is not shown any more', 'update hitl_requests set edited_at = null',
    /^request hitl_\w+ has editedBy usr_\w+ \(at no time\), its entries say usr_\w+$/],
  ['an edit of nobody', 'update hitl_requests set edited_at = now() where edited_at is null',
    /has editedBy nobody, its entries say nothing$/],
];

describe('what a superuser does to the rows is found, and named', () => {
  const execution = `(select id from executions where agent_id = '%' and status = 'executed' and hitl_request_id is null limit 1)`;
  const request = `(select id from hitl_requests where agent_id = '%' and status = 'approved' limit 1)`;
  const grant = `(select id from capability_grants where agent_id = '%' and capability = 'file.delete')`;

  /** Another row like one that is there, under an id of its own. */
  const copied = (table: string, from: string, id: string): string => `insert into ${table}
    select (json_populate_record(t, json_build_object('id', '${id}'))).* from ${table} t where t.id = ${from}`;

  const extra = { execution: newId('exec'), request: newId('hitl'), grant: newId('grt') };

  test.each([
    ['an execution is gone', `delete from executions where id = ${execution}`, /^execution exec_\w+ is gone: entry \d+ of chain agt_/],
    ['a request is gone', `delete from hitl_requests where id = ${request}`, /^request hitl_\w+ is gone: entry \d+/],
    ['a grant is gone', `delete from capability_grants where id = ${grant}`, /^grant grt_\w+ is gone/],
    ['an execution that nobody began', copied('executions', execution, extra.execution),
      new RegExp(`^execution ${extra.execution} has status executed, and no entry records it`)],
    ['a request that nobody made', copied('hitl_requests', request, extra.request),
      new RegExp(`^request ${extra.request} has status approved, and no entry records`)],
    ['another status', `update executions set status = 'failed' where id = ${execution}`,
      /^execution exec_\w+ has status failed, its entries say executed/],
    ['a blocked one that ran', `update executions set status = 'executed' where status = 'blocked'`,
      /^execution exec_\w+ has status executed, its entries say blocked/],
    ['another decider', `update hitl_requests set decided_by = 'usr_somebody' where id = ${request}`,
      /^request hitl_\w+ has decidedBy usr_somebody, its entries say (usr_\w+|root|system)$/],
    ['another digest', `update hitl_requests set digest = repeat('0', 64) where id = ${request}`, /has digest 0+, its entries say/],
    ['another capability', `update hitl_requests set capability = 'email:send' where id = ${request}`, /has capability email:send/],
    ['a rejected one made approved', `update hitl_requests set status = 'approved' where status = 'rejected'`,
      /has status approved, its entries say rejected/],
    ['another version of its grant', `update executions set grant_version = 9 where id = ${execution}`,
      /has grantVersion 9, its entries say 1/],
    ['a grant that blocks no more', `update capability_grants set hitl_mode = 'auto' where id = ${grant}`,
      /^grant grt_\w+ has hitlMode auto, its entries say block/],
    ['a condition taken out', `update capability_grants set conditions = '[]' where agent_id = '%' and capability = 'web.search'`,
      /^grant grt_\w+ has conditions \[\], its entries say \[\{/],
    ['a revoked one brought back', `update capability_grants set revoked_at = null where revoked_at is not null`,
      /has status granted, its entries say revoked/],
    ['a report never made', `update executions set report = '{"outcome":"failure"}' where report is null and id = (
        select id from executions where agent_id = '%' and report is null and status = 'executed' limit 1)`,
      /^the report on execution exec_\w+ has status failure, and no entry records it/],
    ...SHOWN_BY_EXECUTIONS.map(([column, change]): [string, string, RegExp] => [`another ${column} of an execution`,
      `update executions set ${change}`, new RegExp(`has another ${column} than its entries say`)]),
    ...SHOWN_BY_REQUESTS.map(([column, change]): [string, string, RegExp] => [`another ${column} of a request`,
      `update hitl_requests set ${change}`, new RegExp(`^request hitl_\\w+ has another ${column} than its entries say`)]),
    ['how long it took', `update executions set duration_ms = 9000 where status = 'executed'`,
      /has durationMs 9000, its entries say \d+/],
    ['who asked', `update executions set requested_by = 'root' where id = ${execution}`, /has requestedBy root, its entries say agt_/],
    ['whether it was flagged', `update executions set flagged = not flagged where id = ${execution}`, /has flagged true, its entries say/],
    ['who made the request', `update hitl_requests set created_by = 'root' where id = ${request}`, /has createdBy root/],
    ['who edited it', `update hitl_requests set edited_by = 'usr_x' where edited_by is not null`, /has editedBy usr_x/],
    ['whom it went to', `update hitl_requests set escalated_to = 'usr_x'`, /has escalatedTo usr_x/],
    ['how the decision is called', `update hitl_requests set decision_outcome = 'rejected' where id = ${request}`,
      /has outcome rejected, its entries say approved/],
    ['by what it ended', `update hitl_requests set decision_by = 'timeout' where status = 'rejected'`, /has endedBy timeout/],
    ['a vote is gone', 'delete from hitl_votes', /^vote hitl_\w+ 1 usr_\w+ is gone: entry \d+ of chain agt_/],
    ['the vote that decided is gone', `delete from hitl_votes v using hitl_requests q where q.decision_entry_id = v.entry_id`,
      /^request hitl_\w+ has isVoted false, its entries say true/],
    ['a vote of somebody else', `update hitl_votes set voter = 'usr_x' where ctid = (select ctid from hitl_votes limit 1)`,
      /^vote hitl_\w+ \d+ usr_x has status voted, and no entry records it/],
    ['a vote that nobody gave', `insert into hitl_votes
      select organization_id, request_id, version, digest, 'usr_x', note, entry_id, voted_at
      from hitl_votes limit 1`, /^vote hitl_\w+ \d+ usr_x has status voted/],
    ['a vote on something else', `update hitl_votes set digest = repeat('0', 64)`, /has digest 0+, its entries say/],
    ['another note of the vote that decided, its request made to look as if it were old', `with blank as (
      update hitl_requests set nonce = '' where id in (select request_id from hitl_votes))
      update hitl_votes v set note = 'under protest' from hitl_requests q where q.decision_entry_id = v.entry_id`,
      /^(vote|request) .* (has status voted, and no entry records it|has another note than its entries say)$/],
    ['another note of the vote that decided, its request blanked as retention does it', `with blank as (
      update hitl_requests set input = '{}', context = null, nonce = '', action = null, requested_input = null, edit_diff = null,
        note = null, escalation_reason = null where id in (select request_id from hitl_votes) and status = 'approved')
      update hitl_votes v set note = 'under protest' from hitl_requests q where q.decision_entry_id = v.entry_id`,
      /^request hitl_\w+ has another note than its entries say$/],
    ['who granted', `update capability_grants set granted_by = 'usr_x' where id = ${grant}`,
      /^grant grt_\w+ has grantedBy usr_x, its entries say root$/],
    ['the mode of a blocked execution', `update executions set effective_mode = 'escalate' where status = 'blocked'`,
      /^execution exec_\w+ has mode escalate, its entries say block$/],
    ['the mode of what nobody was asked about', `update executions set effective_mode = 'block' where id = ${execution}`,
      /^execution exec_\w+ has mode block, its entries say unasked$/],
    ...SHOWN_WITHOUT_ENTRY,
    ['another note of a vote', `update hitl_votes set note = 'only under protest'`, /^vote .* has another note than its entries say/],
  ])('%s', async (_, change, detail) => {
    const statement = change.replaceAll('%', story.agent.id);
    await server.sql('create table kept_executions as select * from executions');
    await server.sql('create table kept_requests as select * from hitl_requests');
    await server.sql('create table kept_grants as select * from capability_grants');
    await server.sql('create table kept_votes as select * from hitl_votes');
    try {
      await server.database.asSuperuser(statement);
      const outcome = await verified();
      expect(outcome).toMatchObject({ valid: false, verdict: 'tampered' });
      expect(outcome.breaks.map(({ kind }) => kind)).toContain('incomplete');
      expect(outcome.breaks.map((one) => one.detail)).toContainEqual(expect.stringMatching(detail));
    } finally {
      await server.database.asSuperuser(
        'truncate executions, hitl_requests, hitl_votes, capability_grants cascade',
        'insert into hitl_votes select * from kept_votes',
        'insert into executions select * from kept_executions', 'insert into hitl_requests select * from kept_requests',
        'insert into capability_grants select * from kept_grants');
      await server.sql('drop table kept_executions, kept_requests, kept_grants, kept_votes');
    }
  });
});

describe('what a superuser does to the table of whom entries concern is found, and named', () => {
  const person = `s.user_id like 'usr\\_%'`;

  test.each([
    ['it is emptied', 'delete from audit_subjects where entry_id in (select entry_id from kept_subjects)',
      /^entry \d+ of chain \w+ names \w+ at \/\w+.*, and audit_subjects does not say so$/],
    ['a row is gone', `delete from audit_subjects s where ctid = (select ctid from audit_subjects s where ${person} limit 1)`,
      /^entry \d+ .* names usr_\w+ at/],
    ['a row that nobody told', `insert into audit_subjects
      select organization_id, 'usr_x', entry_id, pointer, chain, seq, event, capability,
      outcome, "timestamp" from audit_subjects s where ${person} limit 1`, /^audit_subjects says that entry \d+ .* names usr_x/],
    ['another place', `update audit_subjects s set pointer = '/metadata/nothing' where ctid = (select ctid from audit_subjects s where
      ${person} limit 1)`, /at \/metadata\/nothing, which does not say so there$/],
    ...['chain', 'event', 'capability', 'outcome', '"timestamp"'].map((column): [string, string, RegExp] => [`another ${column}`,
      `update audit_subjects s set ${column} = coalesce(${column}, '') || 'x' where ctid = (select ctid from audit_subjects s
        where ${person} limit 1)`, /^audit_subjects says that entry/]),
    ['another position', `update audit_subjects s set seq = seq + 1 where ${person}`, /^audit_subjects says that entry/],
  ])('%s', async (_, change, detail) => {
    await server.sql('create table kept_subjects as select * from audit_subjects');
    try {
      await server.database.asSuperuser(change);
      const outcome = await verified();
      expect(outcome).toMatchObject({ valid: false, verdict: 'tampered' });
      expect(outcome.breaks.map(({ kind }) => kind)).toContain('column_mismatch');
      expect(outcome.breaks.map((one) => one.detail)).toContainEqual(expect.stringMatching(detail));
    } finally {
      // Only what stood then: the server may have appended since.
      await server.database.asSuperuser(
        'delete from audit_subjects where entry_id in (select entry_id from kept_subjects)',
        'insert into audit_subjects select * from kept_subjects');
      await server.sql('drop table kept_subjects');
    }
  });

  test('and nothing is wrong with it where nothing was done', async () => {
    expect((await verified()).breaks.filter(({ kind }) => kind === 'column_mismatch')).toEqual([]);
  });
});
