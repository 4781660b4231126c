import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { newId } from '../../src/domain/ids.js';
import type { Verification } from '../../src/modules/audit/verification.js';
import { asRoot } from '../support/actors.js';
import { aStory, type Story, toldInFull } from '../support/judged-story.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { startServer, type TestServer } from '../support/server.js';
import { verifiedLog } from '../support/verified-log.js';

jest.setTimeout(180_000);

let server: TestServer;
let receiver: Receiver;
let story: Story;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startServer({ env: { OUTBOUND_ALLOW: receiver.destination } });
  story = await aStory(server, receiver);
  await toldInFull(server, story);
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
    + (select count(*) from capability_grants) + (select count(*) from executions where report is not null) as count`);
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
      new RegExp(`^execution ${extra.execution} stands as executed, and no entry tells of it`)],
    ['a request that nobody made', copied('hitl_requests', request, extra.request),
      new RegExp(`^request ${extra.request} stands as approved, and no entry tells`)],
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
      /^the report on execution exec_\w+ stands as failure, and no entry tells of it/],
  ])('%s', async (_, change, detail) => {
    const statement = change.replaceAll('%', story.agent.id);
    await server.sql('create table kept_executions as select * from executions');
    await server.sql('create table kept_requests as select * from hitl_requests');
    await server.sql('create table kept_grants as select * from capability_grants');
    try {
      await server.database.asSuperuser(statement);
      const outcome = await verified();
      expect(outcome).toMatchObject({ valid: false, verdict: 'tampered' });
      expect(outcome.breaks.map(({ kind }) => kind)).toContain('incomplete');
      expect(outcome.breaks.map((one) => one.detail)).toContainEqual(expect.stringMatching(detail));
    } finally {
      await server.database.asSuperuser(
        'truncate executions, hitl_requests, capability_grants cascade',
        'insert into executions select * from kept_executions', 'insert into hitl_requests select * from kept_requests',
        'insert into capability_grants select * from kept_grants');
      await server.sql('drop table kept_executions, kept_requests, kept_grants');
    }
  });
});
