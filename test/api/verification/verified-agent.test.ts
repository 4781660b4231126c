import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '../../../src/domain/ids.js';
import { anAgent } from '../../support/builders/agents.js';
import { anOrganization, aPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
let organizationId: string;
let elsewhere: string;

beforeAll(async () => {
  server = await startServer();
  organizationId = await anOrganization(server);
  elsewhere = await anOrganization(server);
});

afterAll(() => server?.stop());

const verify = async (organization: string, query: Record<string, string>) =>
  (await aPerson(server, 'admin', { organizationId: organization })).client.get('/api/v1/audit/verify', { query });

test('an agent of another organization, and one that is nowhere, are not found, in the same words', async () => {
  const foreign = await anAgent(server).inOrganization(elsewhere).create();
  const details = [];
  for (const agentId of [newId('agt'), foreign.id]) {
    details.push((await verify(organizationId, { agent_id: agentId })).expect(404, 'NOT_FOUND').text('detail'));
  }
  expect(new Set(details).size).toBe(1);
});

test('an agent of which only a leaf is left is reported', async () => {
  const agent = await anAgent(server).inOrganization(elsewhere).create();
  await server.database.asSuperuser(
    `delete from audit_entries where chain = '${agent.id}'`, `delete from audit_heads where chain = '${agent.id}'`,
  );
  expect((await verify(elsewhere, { agent_id: agent.id })).expect(200).body).toMatchObject({ verdict: 'tampered' });
});
