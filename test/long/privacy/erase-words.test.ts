import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/domain/json.js';
import { asRoot } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { erased, verification } from '../../support/erasure/erasures.js';
import { type Known, known } from '../../support/memory/decided-log.js';
import { anOrganization, aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
let organizationId: string;
let admin: BuiltPerson;
let second: Known;
let agent: BuiltAgent;
/** Executions of each kind: reported, failed, edited. */
let reported: string;
let failed: string;
let request: string;

const KEY = 'one-key-for-one-answer';
const call = () => agent.client.post('/api/v1/execute', { capability: 'web.search', input: { to: 'x', status: 'success' } },
  { headers: { 'Idempotency-Key': KEY } });

beforeAll(async () => {
  server = await startServer();
  organizationId = await anOrganization(server);
  // Whoever decides is told by the log.
  [admin, second] = [await aPerson(server, 'admin', { organizationId }), await known(server, 'owner', organizationId)];
  agent = await anAgent(server).inOrganization(organizationId)
    .granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
  const ran = async () => (await agent.client.post('/api/v1/execute', { capability: 'web.search', input: { to: 'x' } })).expect(200)
    .text('executionId');
  const report = (id: string, body: object) => agent.client.post(`/api/v1/executions/${id}/report`, body);
  (await call()).expect(200);
  [reported, failed] = [await ran(), await ran()];
  const output = { message: 'a success, they say', outcome: 'well' };
  (await report(reported, { outcome: 'success', output, durationMs: 123_456 })).expect(200);
  (await report(failed, { outcome: 'failure', error: { code: 'X', message: 'no' } })).expect(200);
  const asked = (await agent.client.post('/api/v1/execute', { capability: 'email.send', input: { q: 'steel' } })).expect(202);
  request = asked.text('hitlRequestId');
  (await second.client.post(`/api/v1/hitl/${request}/approve`, { note: 'fine', editedInput: { q: 'iron' } }, { query: { wait: 5 } }))
    .expect(200);
});
afterAll(() => server.stop());

async function erase(value: string): Promise<void> {
  const answer = await admin.client.post('/api/v1/audit/erasures', { values: [value], reason: 'they asked' });
  if (answer.status === 202) (await asRoot(server).post(`/api/v1/audit/erasures/${answer.text('erasure.id')}/confirm`)).expect(200);
  else answer.expect(200);
  await erased(server);
}

const shown = async (id: string) => (await admin.client.get(`/api/v1/executions/${id}`)).expect(200).at('execution') as JsonObject;

describe("an erasure of a word that is also the server's own leaves the server's, and the log is as good as before", () => {
  test.each([
    ['a duration', () => '123456'], ['an outcome', () => 'success'], ['another outcome', () => 'failure'],
    ['a name', () => 'outcome'], ['a longer one', () => 'durationMs'], ["one of an answer's", () => 'output'],
    ['a rule', () => 'grant_mode'], ['an operation of a diff', () => 'replace'], ["one of an error's", () => 'message'],
    ['whoever edited it', () => second.id], ['a name in an answer', () => 'executionId'], ['a status', () => 'executed'],
    ['an event', () => 'execution'], ["an effect's", () => 'hitlRequestId'],
  ])('%s', async (_, word) => {
    await erase(word());
    const outcome = await verification(server);
    expect(outcome.breaks).toEqual([]);
    expect(outcome).toMatchObject({ valid: true });
  });

  test('what people wrote is gone, and each thing has the form that it had', async () => {
    expect(await shown(reported)).toMatchObject({
      report: { outcome: 'success', durationMs: 123_456, at: expect.stringMatching(/Z$/), output: { '[erased]': expect.any(String) } },
    });
    expect(JSON.stringify((await shown(reported))['report'])).not.toMatch(/they say/);
    expect(await shown(failed)).toMatchObject({ report: { outcome: 'failure', error: { code: 'X', '[erased]': 'no' } } });
    const asked = (await admin.client.get(`/api/v1/hitl/${request}`)).expect(200);
    expect(asked.body).toMatchObject({ edit: { by: second.id, diff: [{ op: 'replace', path: '/q', value: 'iron' }] } });
    const [row] = await server.sql<{ edit: JsonObject }>('select edit from executions where organization_id = $1 and edit is not null',
      [organizationId]);
    expect(row!.edit).toEqual(
      { by: second.id, at: expect.stringMatching(/Z$/), diff: [{ op: 'replace', path: '/q', value: 'iron' }] });
  });

  test('a kept answer answers still', async () => {
    const again = (await call()).expect(200);
    expect(again.body).toMatchObject({ status: 'executed', executionId: expect.stringMatching(/^exec_/) });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });
});
