import { newId } from '../../../src/domain/ids.js';
import { aTask } from './real-objects.js';
import { asRoot, type Client } from '../http/actors.js';
import { anAgent, anAgentKey, type BuiltAgent } from '../builders/agents.js';
import { aDeadDelivery, aNotification } from '../builders/notifications.js';
import {
  aChatAccount, anErasure, anInvitation, anOrganization, aPasskey, aPerson, aPersonalKey, aStop, aTeam, type BuiltPerson, type Role,
} from '../builders/people.js';
import type { TestServer } from '../servers/server.js';
import { asSession } from '../builders/tenants.js';
import { organizationTables } from '../log/stored-state.js';

/** An organization in which everything is: people of each role, agents, and all that routes can name. */
export interface OrganizationScenario {
  /** With the other organization of its tenant. */
  readonly organizationIds: readonly string[];
  readonly people: Readonly<Record<Role, BuiltPerson>>;
  readonly agent: BuiltAgent;
  /** What a path, a body or a filter can name, by what it is: as `namedIn` calls it. */
  readonly ids: Readonly<Record<string, readonly string[]>>;
  /** Stands in every name, description, input, note and reason of it. */
  readonly mark: string;
}

/** The key under which the scenario's agent once executed: another organization's use of it must find nothing. */
export const USED_KEY = 'used-in-each-organization';

export async function aScenario(server: TestServer, mark: string): Promise<OrganizationScenario> {
  const tenantId = newId('ten');
  const [organizationId, sibling] = [
    await anOrganization(server, { tenantId, name: mark }), await anOrganization(server, { tenantId, name: mark }),
  ];
  const person = (role: Role) => aPerson(server, role, { organizationId, name: `${mark} ${role}`, email: `${mark}.${role}@example.test` });
  const people = {
    owner: await person('owner'), admin: await person('admin'), member: await person('member'), viewer: await person('viewer'),
  };
  const [agent, stopped] = [await aMarkedAgent(server, organizationId, mark), await aMarkedAgent(server, organizationId, mark)];
  await server.sql('update agents set owner_id = $2 where organization_id = $1', [organizationId, people.member.id]);
  const name = `own.x${mark.slice(-8)}`;
  (await people.owner.client.post('/api/v1/capabilities', { name, description: mark })).expect(201);
  const secret = `s${mark.slice(-8).toLowerCase()}`;
  (await people.owner.client.put(`/api/v1/secrets/${secret}`, { value: mark, origins: ['https://api.example.com'] })).expect(201);
  const team = await aTeam(server, organizationId, [{ userId: people.member.id, role: 'lead' }, { userId: people.viewer.id }]);
  await server.sql('update teams set name = $2, description = $2 where organization_id = $1', [organizationId, mark]);
  const { executions, requests } = await whatItDid(agent.client, people.owner.client, mark);
  const stops = [await aStop(server, organizationId, { agentId: stopped.id, reason: mark, by: people.admin.id })];
  const keys = [await aPersonalKey(server, { organizationId, userId: people.viewer.id, name: mark })];
  const agentKeys = [await anAgentKey(server, agent, { name: mark })];
  const sessions = [(await asSession(server, { id: people.viewer.id, organizationId })).id];
  const passkeys = [await aPasskey(server, { organizationId, userId: people.viewer.id, name: mark })];
  const invitations = [await anInvitation(server, organizationId, mark)];
  const grants = await asRoot(server).get('/api/v1/capabilities/grants', { query: { agentId: agent.id } });
  const entries = await server.sql<{ id: string }>('select id from audit_entries where organization_id = $1', [organizationId]);
  const users = Object.values(people).map(({ id }) => id);
  return {
    organizationIds: [organizationId, sibling], people, agent, mark,
    ids: {
      agents: [agent.id, stopped.id], users, userId: users, organizations: [organizationId, sibling], tenants: [tenantId],
      tasks: [await aTask(server, agent.id, mark)], teams: [team], stops, sessions, passkeys, invitations,
      keyId: [...Object.values(people).map(({ keyId }) => keyId), ...keys.map(({ id }) => id)],
      agentKeyId: agentKeys.map(({ id }) => id),
      executions, executionId: executions, hitl: requests, grant: grants.list('grants').map((grant) => (grant as { id: string }).id),
      audit: entries.map(({ id }) => id), erasures: [await anErasure(server, organizationId)],
      deliveries: [await aDeadDelivery(server, organizationId)],
      notifications: [await aNotification(server, organizationId, people.viewer.id)],
      'chat-accounts': [await aChatAccount(server, { organizationId, userId: people.viewer.id })],
      name: [name], secret: [secret], channel: ['webhook'], capability: [name, 'web.search'],
    },
  };
}

function aMarkedAgent(server: TestServer, organizationId: string, mark: string): Promise<BuiltAgent> {
  return anAgent(server).inOrganization(organizationId).named(mark).tagged(mark).having({ description: mark, metadata: { mark } })
    .granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
}

async function whatItDid(agent: Client, owner: Client, mark: string): Promise<{ executions: string[]; requests: string[] }> {
  const body = (capability: string) => ({ capability, input: { mark }, context: { mark } });
  const ran = (await agent.with({ 'idempotency-key': USED_KEY }).post('/api/v1/execute', body('web.search'))).expect(200);
  const open = (await agent.post('/api/v1/execute', body('email.send'))).expect(202);
  const rejected = (await agent.post('/api/v1/execute', body('email.send'))).expect(202);
  (await owner.post(`/api/v1/hitl/${rejected.text('hitlRequestId')}/reject`, { note: mark })).expect(200);
  return {
    executions: [ran, open, rejected].map((reply) => reply.text('executionId')),
    requests: [open, rejected].map((reply) => reply.text('hitlRequestId')),
  };
}

const ID = '(?:agt|org|ten|usr|hitl|audit|exec|task|sess|grt|team|rte|stp|key|inv|ers|pky)_[0-9a-z]{36}';

/** Every id that stands anywhere in the rows of these organizations. */
export async function idsIn(server: TestServer, organizationIds: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>(organizationIds);
  for (const table of await organizationTables(server)) {
    const rows = await server.sql<{ id: string }>(
      `select distinct (regexp_matches(t::text, '${ID}', 'g'))[1] as id
       from "${table}" t where ${table === 'organizations' ? 'id' : 'organization_id'} = any ($1)`,
      [organizationIds],
    );
    for (const { id } of rows) found.add(id);
  }
  return found;
}
