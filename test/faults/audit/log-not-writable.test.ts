import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { eventsOf } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { defineCapability, requestOf } from '../../support/builders/gate.js';
import { eventually } from '../../support/running/eventually.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { EXECUTE } from '../../support/http/paths.js';

let server: TestServer;
let root: Client;
let receiver: Receiver;
let agent: BuiltAgent;

beforeAll(async () => {
  [server, receiver] = await Promise.all([startServer(), startReceiver()]);
  root = asRoot(server);
  await defineCapability(server, 'crm.push', { connector: { type: 'http', method: 'POST', url: receiver.url, body: '{input}' } });
  agent = await anAgent(server).granted('web.search').granted('file.read', { hitlMode: 'block' })
    .granted('email.send', { hitlMode: 'propose' })
    .granted('crm.push').create();
});

afterAll(async () => {
  await server.stop();
  await receiver.close();
});

afterEach(() => server.sql('drop trigger if exists test_refuse_entries on audit_entries'));

/** From now on the log refuses entries with PostgreSQL's code for a full disk, or for a right that was taken away. */
async function refuseEntries(code: string, only = 'true'): Promise<void> {
  await server.sql(`create or replace function test_refuse_entries() returns trigger language plpgsql as
    $$ begin raise exception 'no entry today' using errcode = '${code}'; end $$`);
  await server.sql(`create trigger test_refuse_entries before insert on audit_entries for each row when (${only})
    execute function test_refuse_entries()`);
}

const stands = async () => (await server.sql(`select (select count(*) from executions) as executions,
  (select count(*) from hitl_requests) as requests,
  (select count(*) from outbox) as effects, (select count(*) from idempotency_keys) as keys,
    (select count(*) from audit_entries) as entries,
  (select sum(version) from capability_grants) as grants, (select sum(open_requests) from audit_heads) as open`))[0];

function isRefused(reply: Reply): void {
  reply.expect(503, 'UNAVAILABLE');
  expect(Number(reply.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(JSON.stringify(reply.body)).not.toContain('no entry today');
}

describe.each([
  ['a full disk', '53100'],
  ['the right to insert revoked', '42501'],
])('%s', (_name, code) => {
  test.each(['web.search', 'file.read', 'email.send', 'crm.push'])('%s: 503, nothing runs and nothing is left',
    async (capability) => {
    const [before, calls] = [await stands(), receiver.requests.length];
    await refuseEntries(code);
    isRefused(await agent.client.with({ 'idempotency-key': `k-${code}` }).post(EXECUTE, { capability, input: { n: 1 } }));
    expect(await stands()).toEqual(before);
    expect(receiver.requests).toHaveLength(calls);
  });

  test('no decision counts that cannot be recorded', async () => {
    const id = (await agent.client.post(EXECUTE, { capability: 'email.send' })).text('hitlRequestId');
    // The news of the request is on its way, and gone a moment later.
    await eventually(async () => expect(await server.sql('select from outbox')).toEqual([]));
    const before = await stands();
    for (const decision of ['approve', 'reject', 'cancel', 'timeout']) {
      await refuseEntries(code);
      isRefused(await root.post(`/api/v1/hitl/${id}/${decision}`));
      // Root's use of its key is an entry too; here only the decision's own is refused.
      await server.sql('drop trigger test_refuse_entries on audit_entries');
      await refuseEntries(code, `new.event like 'hitl.%'`);
      isRefused(await root.post(`/api/v1/hitl/${id}/${decision}`));
      await server.sql('drop trigger test_refuse_entries on audit_entries');
      expect(await requestOf(server, id)).toMatchObject({ status: 'pending', decided_by: null });
    }
    expect({ ...(await stands()), entries: 0 }).toEqual({ ...before, entries: 0 });
  });

  test('no grant counts that cannot be recorded', async () => {
    const before = await stands();
    await refuseEntries(code, `new.event like 'capability.%'`);
    isRefused(await root.post('/api/v1/capabilities/grant', { agentId: agent.id, capability: 'file.delete' }));
    expect({ ...(await stands()), entries: 0 }).toEqual({ ...before, entries: 0 });
  });

  test('in one batch with it others fail too, and none is half written', async () => {
    const other = await anAgent(server).granted('web.search').create();
    await refuseEntries(code, `new.agent_id = '${agent.id}'`);
    const mine = Array.from({ length: 10 }, () => agent.client.post(EXECUTE, { capability: 'web.search' }));
    const theirs = Array.from({ length: 10 }, () => other.client.post(EXECUTE, { capability: 'web.search' }));
    (await Promise.all(mine)).forEach(isRefused);
    const done = (await Promise.all(theirs)).filter(({ status }) => status === 200).length;
    expect((await eventsOf(server, other.id)).filter((event) => event === 'execution.completed')).toHaveLength(done);
  });
});

test('it recovers without a restart', async () => {
  await refuseEntries('53100');
  isRefused(await agent.client.post(EXECUTE, { capability: 'web.search' }));
  await server.sql('drop trigger test_refuse_entries on audit_entries');
  (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(200);
});

test('an action that has run while the log filled up is closed with its answer when there is room again', async () => {
  receiver.script({ body: { id: 3 } });
  await refuseEntries('53100', `new.event = 'execution.completed'`);
  const calls = receiver.requests.length;
  const call = agent.client.post(EXECUTE, { capability: 'crm.push', input: { n: 2 } });
  await receiver.received(calls + 1);
  await new Promise((resolve) => setTimeout(resolve, 800));
  await server.sql('drop trigger test_refuse_entries on audit_entries');
  expect((await call).expect(200).body).toMatchObject({ status: 'executed', output: { id: 3 } });
  expect((await eventsOf(server, agent.id)).slice(-2)).toEqual(['execution.started', 'execution.completed']);
  expect(receiver.requests).toHaveLength(calls + 1);
});
