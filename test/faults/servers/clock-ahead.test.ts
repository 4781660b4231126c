import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { anAgent } from '../../support/builders/agents.js';
import { known } from '../../support/memory/decided-log.js';
import { anOrganization } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { CHECKOUT } from '../../support/servers/test-run.js';
import { verifiedLog } from '../../support/log/verified-log.js';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ ownProcess: true });
});
afterAll(() => server.stop());

const ahead = (seconds: number) => ({
  NODE_OPTIONS: `--require ${join(CHECKOUT, 'test/support/servers/clock-ahead.cjs')}`, TEST_CLOCK_AHEAD_SECONDS: String(seconds),
});

test.each([[60, 1], [1_800, 1_150]])('what was done while a clock ran %i s ahead makes none of %i calls wrong', async (seconds, calls) => {
  const organizationId = await anOrganization(server);
  const define = { name: 'crm.push', description: 'pushes', inputSchema: { type: 'object' } };
  (await (await known(server, 'admin', organizationId)).client.post('/api/v1/capabilities', define)).expect(201);
  const agent = await anAgent(server).inOrganization(organizationId).granted('crm.push').granted('email.send', { hitlMode: 'propose' })
    .create();
  const push = async () => (await agent.client.post('/api/v1/execute', { capability: 'crm.push', input: { n: 1 } })).expect(200);
  await push();
  await server.restart(ahead(seconds));
  const admin = await known(server, 'admin', organizationId);
  const redefined = { inputSchema: { type: 'object', required: ['n'] } };
  (await admin.client.patch('/api/v1/capabilities/crm.push', redefined)).expect(200);
  const [reported] = await server.sql<{ at: string }>(
    `select "timestamp" as at from audit_entries where event = 'capability.definition_updated' and organization_id = $1`,
    [organizationId]);
  expect(Date.parse(reported!.at) - Date.now()).toBeGreaterThan(seconds * 500);
  await server.restart({ NODE_OPTIONS: '' });
  for (let left = calls; left > 0; left -= 10) await Promise.all(Array.from({ length: Math.min(10, left) }, push));
  const requestId = (await agent.client.post('/api/v1/execute', { capability: 'email.send', input: {} })).expect(202).text('hitlRequestId');
  (await admin.client.post(`/api/v1/hitl/${requestId}/approve`, {}, { query: { wait: 0 } })).expect(200);
  const { breaks, members } = await verifiedLog(server.database.url);
  expect({ breaks, replay: members['replay'] }).toMatchObject({ breaks: [], replay: { wrong: 0, notReplayable: {} } });
});

test.each([[20], [-20]])('while its clock is %i s ahead of the database\'s a server begins, asks and decides nothing; it reads and stops',
  async (seconds) => {
    const organizationId = await anOrganization(server);
    const admin = await known(server, 'admin', organizationId);
    const agent = await anAgent(server).inOrganization(organizationId).granted('web.search').granted('email.send', { hitlMode: 'propose' })
      .create();
    const execute = (capability: string) => agent.client.post('/api/v1/execute', { capability, input: {} });
    const [requestId, other] = [(await execute('email.send')).expect(202).text('hitlRequestId'),
      (await execute('email.send')).expect(202).text('hitlRequestId')];
    const decide = (decision: string, id: string) =>
      admin.client.post(`/api/v1/hitl/${id}/${decision}`, {}, decision === 'approve' ? { query: { wait: 0 } } : {});
    await server.restart(ahead(seconds));
    for (const refused of [
      () => execute('web.search'), () => execute('email.send'), () => decide('approve', requestId), () => decide('reject', other),
    ]) {
      const reply = (await refused()).expect(503, 'UNAVAILABLE');
      expect(reply.text('detail')).toMatch(/^This server's clock and the database's differ by (20|more than 5) s: put it right\./);
      expect(reply.headers.get('retry-after')).toBe('5');
    }
    (await admin.client.get(`/api/v1/hitl/${requestId}`)).expect(200);
    const stopId = (await admin.client.post('/api/v1/stops', { scope: 'agent', id: agent.id, reason: 'r' })).expect(201).text('stop.id');
    (await admin.client.delete(`/api/v1/stops/${stopId}`)).expect(204);
    await server.restart({ NODE_OPTIONS: '' });
    (await execute('web.search')).expect(200);
    (await execute('email.send')).expect(202);
    (await decide('approve', requestId)).expect(200);
    (await decide('reject', other)).expect(200);
    const { breaks, members } = await verifiedLog(server.database.url);
    expect({ breaks, replay: members['replay'] }).toMatchObject({ breaks: [], replay: { wrong: 0, notReplayable: {} } });
  });
