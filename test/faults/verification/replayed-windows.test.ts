import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { anAgent, type BuiltAgent, type GrantTerms } from '../../support/builders/agents.js';
import { eventually } from '../../support/running/eventually.js';
import { requestOf } from '../../support/builders/gate.js';
import { known, type Known } from '../../support/memory/decided-log.js';
import { asRoot } from '../../support/http/actors.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { verifiedLog } from '../../support/log/verified-log.js';

// Whoever owns the database alters for a moment how long people have to decide, and the server itself writes what comes of it. Its
// entries agree with each other; the time that a grant gives, with what its entry says, does not.

let server: TestServer;
let organizationId: string;
let admin: Known;

beforeAll(async () => {
  server = await startServer();
  organizationId = (await asRoot(server).post('/api/v1/organizations', { name: 'Windows' })).expect(201).text('organization.id');
  admin = await known(server, 'admin', organizationId);
});

afterAll(() => server.stop());

const BY_TIME: GrantTerms = { hitlMode: 'propose', hitlTimeoutSeconds: 600, hitlTimeoutAction: 'approve' };

const granted = (terms: GrantTerms) => anAgent(server).inOrganization(organizationId).granted('web.post', terms).create();
const ask = async ({ client }: BuiltAgent) =>
  (await client.post('/api/v1/execute', { capability: 'web.post', input: { pay: 1_000_000 } })).expect(202).text('hitlRequestId');
const overNow = (id: string) => server.sql('update hitl_requests set expires_at = clock_timestamp() where id = $1', [id]);
const approvedByTime = (id: string) =>
  eventually(async () => expect(await requestOf(server, id)).toMatchObject({ status: 'approved', decided_by: 'system' }), { every: 200 });

async function wrongOf({ id }: BuiltAgent): Promise<string[]> {
  const { breaks } = await verifiedLog(server.database.url);
  return breaks.filter(({ chain, kind }) => chain === id && kind === 'gate_wrong').map(({ detail }) => detail.replace(/^.*?\): /, ''));
}

test('the seconds of its grant, while it was asked', async () => {
  const agent = await granted(BY_TIME);
  await server.sql('update capability_grants set timeout_seconds = 1 where agent_id = $1', [agent.id]);
  const id = await ask(agent);
  await server.sql('update capability_grants set timeout_seconds = 600 where agent_id = $1', [agent.id]);
  await approvedByTime(id);
  expect(await wrongOf(agent)).toEqual(['its window is not the 600 s that its grant gives']);
});

test('the end of its window, once it was escalated', async () => {
  const agent = await granted(BY_TIME);
  const id = await ask(agent);
  (await admin.client.post(`/api/v1/hitl/${id}/escalate`, { reason: 'not without the boss' })).expect(200);
  expect(await wrongOf(agent)).toEqual([]);
  await overNow(id);
  await approvedByTime(id);
  expect(await wrongOf(agent)).toEqual(['its time was not over']);
});

test('the end of its window, when something had been stopped meanwhile', async () => {
  const agent = await granted(BY_TIME);
  const id = await ask(agent);
  const stop = (await admin.client.post('/api/v1/stops', { scope: 'organization', id: organizationId, reason: 'a drill' })).expect(201);
  (await admin.client.delete(`/api/v1/stops/${stop.text('stop.id')}`)).expect(204);
  await overNow(id);
  await approvedByTime(id);
  expect(await wrongOf(agent)).toEqual(['its time was not over']);
});

test('what hangs on the very second of a call is no break', async () => {
  const agent = await granted({ conditions: [
    { when: 'now.getSeconds() % 2 == 0', hitlMode: 'propose' }, { when: 'now.getMilliseconds() % 2 == 0', hitlMode: 'escalate' },
  ] });
  const answers = new Set<number>();
  for (let call = 0; call < 60; call++) {
    answers.add((await agent.client.post('/api/v1/execute', { capability: 'web.post', input: {} })).status);
    await pause(50);
  }
  expect([...answers].sort()).toEqual([200, 202]);
  expect(await wrongOf(agent)).toEqual([]);
});
