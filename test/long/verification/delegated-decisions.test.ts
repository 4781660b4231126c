import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { aDecidedLog, type DecidedLog } from '../../support/memory/decided-log.js';
import { delegatedInFull } from '../../support/memory/delegated-log.js';
import { type Receiver, startReceiver } from '../../support/http/receiver.js';
import { verifiedLog } from '../../support/log/verified-log.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { tryingOut, type TryingOut } from '../../support/tampering/attempt.js';

let server: TestServer;
let receiver: Receiver;
let story: DecidedLog;
let owner: TryingOut;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startServer({ env: { OUTBOUND_ALLOW: receiver.destination } });
  story = await aDecidedLog(server, receiver);
  await delegatedInFull(server, story);
  owner = await tryingOut(server.database);
});
afterAll(async () => {
  await owner.end();
  await server.stop();
  await receiver.close();
});

test('every decision over a chain is replayed, for the whole log and for one agent', async () => {
  const found = await verifiedLog(server.database.url);
  expect(found.breaks).toEqual([]);
  expect(found.members).toMatchObject({ completeness: { breaks: 0 }, replay: { wrong: 0, notReplayable: {} } });
  const rows = await server.sql<{ id: string; decisions: number }>(`select chain as id, count(*)::integer as decisions from audit_entries
    where payload like '%"delegators"%' and event in ('execution.started', 'execution.blocked', 'hitl.created', 'hitl.approved')
    group by chain`);
  expect(rows.reduce((sum, { decisions }) => sum + decisions, 0)).toBeGreaterThan(12);
  for (const { id, decisions } of rows) {
    const one = await verifiedLog(server.database.url, id);
    expect(one.breaks).toEqual([]);
    expect((one.members['replay'] as { right: number }).right).toBeGreaterThanOrEqual(decisions);
  }
});

const looked = async (...changes: readonly string[]) =>
  (await owner.breaksAfter(...changes)).map(({ kind, detail }) => `${kind}: ${detail}`);
/** Grants of agents that gave a task whose call was decided by them. */
const OF_GIVERS = `agent_id in (select t.from_agent_id from tasks t where t.status = 'taken')`;

test('what retention of records does to tasks is no break', async () => {
  expect(await looked(`update tasks set input = '{}', description = null where status <> 'assigned'`)).toEqual([]);
});

test.each([
  ['a task that was given is blank', `update tasks set input = '{}', description = null where status = 'assigned'`, 'task task_'],
  ['a task is gone', `delete from tasks where status = 'taken'`, 'task task_'],
  ['a task stands by itself', `insert into tasks select (json_populate_record(t, '{"id":"task_ghost"}')).* from tasks t limit 1`,
    'task task_ghost'],
  ['another agent gave a task', `update tasks set chain = array_prepend('agt_ghost', chain) where cardinality(chain) > 1`, 'task task_'],
  ['nobody has a task', `update tasks set chain = '{}'`, 'task task_'],
  ['a task is open again', `update tasks set status = 'assigned', execution_id = null where status = 'taken'`, 'task task_'],
  ["a giver's grant has another mode", `update capability_grants set hitl_mode = 'block' where ${OF_GIVERS}`, 'grant grt_'],
  ["a giver's grant has another version", `update capability_grants set version = version + 1 where ${OF_GIVERS}`, 'grant grt_'],
  ["a giver's grant has limits", `update capability_grants set limits = '[{"max":1,"per":"day","then":"block"}]' where ${OF_GIVERS}`,
    'grant grt_'],
  ['an execution is of no task', `update executions set task_id = null, task_chain = '{}' where task_id is not null`, 'execution exec_'],
  ['a secret has another value', `update secrets set sealed = '\\x00'::bytea || sealed`, 'secret crm-token'],
  ['a secret is for other origins', `update secrets set origins = array['https://elsewhere.example']`, 'secret crm-token'],
  ['a secret is gone', 'delete from secrets', 'secret crm-token'],
  ['a secret that was removed is there', `insert into secrets
    select organization_id, 'old-token', origins, sealed, created_at, updated_at from secrets`, 'secret old-token'],
])('%s: it is named', async (_, change, what) => {
  expect(await looked(change)).toContainEqual(expect.stringContaining(`incomplete: ${what}`));
});

test('no value of a secret stands in what is found', async () => {
  const found = await looked(`update secrets set sealed = '\\x00'::bytea || sealed`);
  const [row] = await server.sql<{ sealed: string }>(`select encode(sealed, 'hex') as sealed from secrets`);
  expect(found.join()).not.toContain(row!.sealed);
  expect(found.join()).not.toContain('another value');
});
