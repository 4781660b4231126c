import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '../../../src/domain/ids.js';
import { asRoot } from '../../support/http/actors.js';
import { anAgent } from '../../support/builders/agents.js';
import { eventually } from '../../support/running/eventually.js';
import { anOrganization, aPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { tableHeld } from '../../support/servers/two-servers.js';

// Who verifies beside whom on one server. Of all that reads the table of sweeps a verification alone reads it here.

let server: TestServer;
let house: readonly [string, string];
let elsewhere: string;

beforeAll(async () => {
  server = await startServer();
  const tenantId = newId('ten');
  house = [await anOrganization(server, { tenantId }), await anOrganization(server, { tenantId })];
  elsewhere = await anOrganization(server);
});

afterAll(() => server?.stop());

const administrator = async (organizationId: string) => (await aPerson(server, 'admin', { organizationId })).client;

const verify = async (organizationId: string, query: Record<string, string> = {}) =>
  (await administrator(organizationId)).get('/api/v1/audit/verify', { query });

const verifying = async (count: number) => eventually(async () => {
  expect(await server.sql(`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
    and query like '%from audit_sweeps%'`)).toHaveLength(count);
});

test('a tenant verifies in two places, whichever of its organizations are asked for; others and root have theirs', async () => {
  const agents = await Promise.all(house.map((organizationId) => anAgent(server).inOrganization(organizationId).create()));
  const held = await tableHeld(server, 'audit_sweeps');
  try {
    const ofOne = house.flatMap((organizationId, n) => [verify(organizationId), verify(organizationId, { agent_id: agents[n]!.id })]);
    await verifying(2);
    const others = [verify(elsewhere), asRoot(server).get('/api/v1/audit/verify')];
    await verifying(4);
    const refused = (await Promise.race(ofOne)).expect(503, 'UNAVAILABLE');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await held.release();
    for (const reply of await Promise.all(others)) reply.expect(200);
    expect((await Promise.all(ofOne)).map(({ status }) => status).toSorted()).toEqual([200, 200, 503, 503]);
  } finally {
    await held.release();
  }
});

test('who asks for an agent that is not theirs is told at once that none is there, while all places are taken', async () => {
  const foreign = await anAgent(server).inOrganization(elsewhere).create();
  const held = await tableHeld(server, 'audit_sweeps');
  try {
    const running = [verify(house[0]), verify(house[1])];
    await verifying(2);
    const asked = [newId('agt'), foreign.id, newId('agt'), foreign.id].map((agentId) => verify(house[0], { agent_id: agentId }));
    const bodies = (await Promise.all(asked)).map((reply) => reply.expect(404, 'NOT_FOUND').text('detail'));
    expect(new Set(bodies).size).toBe(1);
    await verifying(2);
    await held.release();
    for (const reply of await Promise.all(running)) reply.expect(200);
  } finally {
    await held.release();
  }
});

test('an agent of which a leaf alone is left is told of', async () => {
  const agent = await anAgent(server).inOrganization(elsewhere).create();
  await server.database.asSuperuser(
    `delete from audit_entries where chain = '${agent.id}'`, `delete from audit_heads where chain = '${agent.id}'`,
  );
  expect((await verify(elsewhere, { agent_id: agent.id })).expect(200).body).toMatchObject({ verdict: 'tampered' });
});
