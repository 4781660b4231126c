import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asRoot } from '../../support/http/actors.js';
import { anAgent } from '../../support/builders/agents.js';
import { eventually } from '../../support/running/eventually.js';
import { archiveFolder } from '../../support/retention/retention.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

/** Ids made so long ago that they sort before every period. */
const OLD = '2020-01-01T00:00:00Z';

test('payloads of what ended long ago are blanked, and of nothing else', async () => {
  const agent = await anAgent(server).granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
  const run = async (q: string) =>
    (await agent.client.post('/api/v1/execute', { capability: 'web.search', input: { q }, context: { for: q } })).expect(200)
      .text('executionId');
  const ask = async (to: string) => (await agent.client.post('/api/v1/execute', { capability: 'email.send', input: { to } })).expect(202);
  const [old, young] = [await run('old'), await run('young')];
  const [decided, open] = [await ask('decided@example.org'), await ask('open@example.org')];
  const [request, waiting] = [decided.text('hitlRequestId'), open.text('hitlRequestId')];
  (await asRoot(server).post(`/api/v1/hitl/${request}/reject`, { comment: 'not to them' })).expect(200);
  const executions = [old, decided.text('executionId'), open.text('executionId')];
  const rename = (id: string) => `${id.split('_')[0]}_0000000000${id.split('_')[1]!.slice(10)}`;
  await server.database.asSuperuser(
    ...executions.map((id) => `update executions set id = '${rename(id)}',
      closed_at = case when closed_at is not null then timestamptz '${OLD}' end where id = '${id}'`),
    ...[request, waiting].map((id) => `update hitl_requests set id = '${rename(id)}', decided_at = case when decided_at is not null
      then timestamptz '${OLD}' end, execution_id = (select id from executions e where e.hitl_request_id = '${id}') where id = '${id}'`),
  );
  const digests = await server.sql('select id, digest from hitl_requests order by id');
  await server.restart({ RECORDS_RETENTION_DAYS: '365' });

  await eventually(async () => {
    expect(await server.sql('select input, context from executions where id = $1', [rename(old)]))
      .toEqual([{ input: '{}', context: null }]);
    expect(await server.sql('select input, nonce, note from hitl_requests where id = $1', [rename(request)]))
      .toEqual([{ input: '{}', nonce: '', note: null }]);
  }, { every: 250 });
  const kept = await server.sql<{ input: string }>('select input from executions where id = any ($1)', [[young, rename(executions[2]!)]]);
  expect(kept.map(({ input }) => input).sort()).toEqual(['{"q":"young"}', '{"to":"open@example.org"}']);
  expect(await server.sql(`select input, nonce <> '' as nonce from hitl_requests where id = $1`, [rename(waiting)]))
    .toEqual([{ input: '{"to":"open@example.org"}', nonce: true }]);
  expect(await server.sql('select id, digest from hitl_requests order by id')).toEqual(digests);
  // What is blank can still be read.
  (await asRoot(server).get(`/api/v1/executions/${rename(old)}`)).expect(200);
  (await asRoot(server).get(`/api/v1/hitl/${rename(request)}`)).expect(200);
});

test('short periods, and an archive that is not there, are told', async () => {
  await anAgent(server).risk('high').create();
  const archive = await archiveFolder();
  const ready = async () => (await fetch(new URL('/health/ready', server.url))).json() as Promise<Record<string, unknown>>;
  await server.restart({ AUDIT_RETENTION_DAYS: '90', AUDIT_ARCHIVE: archive });
  expect(await ready()).toMatchObject({
    status: 'ready', retentionWarning: expect.stringContaining('183'), highRiskRetentionWarning: expect.stringContaining('3660'),
  });
  expect(server.output()).toContain('AUDIT_RETENTION_DAYS is 90');
  await server.restart({ AUDIT_RETENTION_DAYS: '3660', AUDIT_ARCHIVE: `${archive}/missing` });
  const reported = await ready();
  expect(reported).toMatchObject({ status: 'ready', archiveWarning: expect.stringContaining('Nothing is swept') });
  // Anybody may ask: where it is, and whose log it is, the log and `doctor` say.
  expect(JSON.stringify(reported)).not.toContain(archive);
  expect(Object.keys(reported)).not.toContain('retentionWarning');
});

test('what tasks and routing decisions say of long ago is blanked, and no open task', async () => {
  const [giver, doer] = [await anAgent(server).granted('web.search').create(), await anAgent(server).granted('web.search').create()];
  const give = async (q: string) => (await giver.client.post('/api/v1/routing/delegate', {
    toAgentId: doer.id, task: { capability: 'web.search', input: { q }, description: q },
  })).expect(201).text('task.id');
  const [done, cancelled, open, young] = [await give('done'), await give('cancelled'), await give('open'), await give('young')];
  const call = { capability: 'web.search', input: { q: 'done' }, context: { task_id: done } };
  const executed = (await doer.client.post('/api/v1/execute', call)).expect(200).text('executionId');
  for (const id of [cancelled, young]) (await giver.client.post(`/api/v1/tasks/${id}/cancel`)).expect(200);
  for (const description of ['old', 'young']) {
    (await giver.client.post('/api/v1/routing/resolve', { capabilities: ['web.search'], description })).expect(200);
  }
  const old = (prefix: string, n: number) => `${prefix}_0000000000${String(n).padStart(16, '0')}`;
  await server.database.asSuperuser(
    `update executions set closed_at = timestamptz '${OLD}' where id = '${executed}'`,
    ...[done, cancelled, open].map((id, n) => `update tasks set id = '${old('task', n)}',
      ended_at = case when ended_at is not null then timestamptz '${OLD}' end where id = '${id}'`),
    `update routing_decisions set id = '${old('rte', 1)}', created_at = timestamptz '${OLD}' where description = 'old'`,
  );
  await server.restart({ RECORDS_RETENTION_DAYS: '365' });
  await eventually(async () => {
    expect(await server.sql('select id, input, description from tasks order by id')).toEqual([
      { id: old('task', 0), input: '{}', description: null }, { id: old('task', 1), input: '{}', description: null },
      { id: old('task', 2), input: '{"q":"open"}', description: 'open' }, { id: young, input: '{"q":"young"}', description: 'young' },
    ]);
    const shown = 'select description from routing_decisions where description is not null or id = $1 order by id';
    expect(await server.sql(shown, [old('rte', 1)]))
      .toEqual([{ description: null }, { description: 'young' }]);
  }, { every: 250 });
  (await asRoot(server).get(`/api/v1/tasks/${old('task', 0)}`)).expect(200);
});
