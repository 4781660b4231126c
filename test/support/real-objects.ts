import { randomBytes } from 'node:crypto';
import { asRoot } from './actors.js';
import { goodBody } from './bad-bodies.js';
import { anAgent, type BuiltAgent } from './builders.js';
import { aPerson, aPersonalKey, aStop, aTeam, type BuiltPerson } from './people.js';
import { namedIn, pathOf, type Route } from './routes.js';
import type { TestServer } from './server.js';

/** Where real things are made, and whose they are. */
export interface Place {
  readonly server: TestServer;
  readonly organizationId: string;
  /** An organization of the same tenant, for what goes from one to another. */
  readonly sibling: string;
  /** Whose objects: the agent's own requests, executions and grants. */
  readonly agent: BuiltAgent;
  /** Whom the agent belongs to, and of whom the audit entries tell. */
  readonly person: Pick<BuiltPerson, 'id'>;
  /** Whose account, keys and membership a path names. */
  readonly account: Pick<BuiltPerson, 'id'>;
}

export interface Target {
  readonly path: string;
  readonly body: Record<string, unknown> | undefined;
  /** Whether path or body name anything of the place. */
  readonly names: 'in the path' | 'in the body' | 'nothing';
}

type Maker = (place: Place) => Promise<string>;

/**
 * How to make what a path names, by the name that `namedIn` gives it. A route with a new parameter fails until its maker
 * stands here.
 */
const MAKERS: Readonly<Record<string, Maker>> = {
  agents: async ({ agent }) => agent.id,
  organizations: async ({ organizationId }) => organizationId,
  users: async ({ account }) => account.id,
  userId: async ({ account }) => account.id,
  keyId: async ({ server, organizationId, account }) => (await aPersonalKey(server, { organizationId, userId: account.id })).id,
  teams: ({ server, organizationId, account }) => aTeam(server, organizationId, [{ userId: account.id }]),
  stops: ({ server, organizationId, agent, person }) => aStop(server, organizationId, { agentId: agent.id, by: person.id }),
  capability: async () => 'web.search',
  name: ({ server, organizationId }) => aCapability(server, organizationId),
  grant: async ({ server, agent }) => {
    const grants = await asRoot(server).get('/api/v1/capabilities/grants', { query: { agentId: agent.id, capability: 'web.search' } });
    return grants.expect(200).text('grants.0.id');
  },
  executions: async ({ server, agent }) =>
    (await asRoot(server).post('/api/v1/execute', { capability: 'web.search', agentId: agent.id })).expect(200).text('executionId'),
  hitl: async ({ server, agent }) =>
    (await asRoot(server).post('/api/v1/execute', { capability: 'email.send', agentId: agent.id })).expect(202).text('hitlRequestId'),
  audit: ({ server, organizationId, person }) => anEntryAbout(server, organizationId, person.id),
};

/** A capability of the organization's own, as the API would define it in the caller's. */
async function aCapability(server: TestServer, organizationId: string): Promise<string> {
  const name = `own.x${randomBytes(4).toString('hex')}`;
  const owner = await aPerson(server, 'owner', { organizationId });
  (await owner.client.post('/api/v1/capabilities', { name, description: 'of the organization' })).expect(201);
  return name;
}

/** An entry of the organization's own chain that names the person. */
async function anEntryAbout(server: TestServer, organizationId: string, userId: string): Promise<string> {
  await aCapability(server, organizationId);
  const [entry] = await server.sql<{ id: string }>(
    `select id from audit_entries where organization_id = $1 and chain = $2 order by seq desc limit 1`,
    [organizationId, `sys_${organizationId}`],
  );
  await server.sql(
    `insert into audit_subjects (organization_id, user_id, entry_id, pointer) values ($1, $2, $3, '/metadata/by') on conflict do nothing`,
    [organizationId, userId, entry!.id],
  );
  return entry!.id;
}

/** An agent with all that the makers need, owned by the person. */
export async function anAgentOf(server: TestServer, organizationId: string, person: Pick<BuiltPerson, 'id'>): Promise<BuiltAgent> {
  const agent = await anAgent(server).inOrganization(organizationId)
    .granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
  await server.sql('update agents set owner_id = $2 where id = $1', [agent.id, person.id]);
  return agent;
}

/** Path and body of a call to the route that names what really is there. */
export async function targetOf(route: Route, place: Place): Promise<Target> {
  const ids: Record<string, string> = {};
  for (const name of namedIn(route)) {
    const make = MAKERS[name];
    if (make === undefined) throw new Error(`${route.template} names {${name}}: say in test/support/real-objects.ts how to make one`);
    ids[name] = await make(place);
  }
  const names = { agentId: place.agent.id, userId: place.account.id, organizationId: place.sibling };
  const body = route.takesBody ? goodBody(route, names) : undefined;
  const text = JSON.stringify(body) ?? '';
  const inBody = text.includes(place.agent.id) || text.includes(place.account.id);
  return { path: pathOf(route, ids), body, names: namedIn(route).length > 0 ? 'in the path' : inBody ? 'in the body' : 'nothing' };
}
