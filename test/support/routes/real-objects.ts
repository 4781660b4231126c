import { randomBytes } from 'node:crypto';
import { asRoot } from '../http/actors.js';
import { goodBody } from './bad-bodies.js';
import { aDeadDelivery, aNotification } from '../builders/notifications.js';
import { anAgent, anAgentKey, type BuiltAgent } from '../builders/agents.js';
import {
  aChatAccount, anErasure, anInvitation, aPasskey, aPerson, aPersonalKey, aStop, aTeam, type BuiltPerson,
} from '../builders/people.js';
import { namedIn, pathOf, type Route } from './routes.js';
import type { TestServer } from '../servers/server.js';
import { asSession, aTenant } from '../builders/tenants.js';

/** Where real things are made, and whose they are. What a call does not name is not made. */
export interface ObjectOwner {
  readonly server: TestServer;
  readonly organizationId: string;
  /** An organization of the same tenant, for what goes from one to another. */
  readonly sibling: string;
  /** Whom the agent belongs to, and of whom the audit entries tell. */
  readonly person: Pick<BuiltPerson, 'id'>;
  /** Whose objects: the agent's own requests, executions and grants. */
  agent(): Promise<BuiltAgent>;
  /** Whose account, keys and membership a path names. */
  account(): Promise<Pick<BuiltPerson, 'id'>>;
}

/** The same at every call, made at the first one. */
export function once<Made>(make: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | undefined;
  return () => (made ??= make());
}

export interface Target {
  readonly path: string;
  readonly body: Record<string, unknown> | undefined;
  /** Whether path or body name anything of the place. */
  readonly names: 'in the path' | 'in the body' | 'nothing';
}

type Maker = (place: ObjectOwner) => Promise<string>;

/**
 * How to make what a path names, by the name that `namedIn` gives it. A route with a new parameter fails until its maker
 * stands here.
 */
const MAKERS: Readonly<Record<string, Maker>> = {
  agents: async ({ agent }) => (await agent()).id,
  organizations: async ({ organizationId }) => organizationId,
  users: async ({ account }) => (await account()).id,
  userId: async ({ account }) => (await account()).id,
  agentKeyId: async ({ server, agent }) => (await anAgentKey(server, await agent())).id,
  keyId: async ({ server, organizationId, account }) => (await aPersonalKey(server, { organizationId, userId: (await account()).id })).id,
  sessions: async ({ server, organizationId, account }) => (await asSession(server, { id: (await account()).id, organizationId })).id,
  passkeys: async ({ server, organizationId, account }) => aPasskey(server, { organizationId, userId: (await account()).id }),
  'chat-accounts': async ({ server, organizationId, account }) =>
    aChatAccount(server, { organizationId, userId: (await account()).id }),
  invitations: ({ server, organizationId }) => anInvitation(server, organizationId),
  // A link is good for whoever has it: there is nobody whose it is.
  token: async () => '0'.repeat(64),
  teams: async ({ server, organizationId, account }) => aTeam(server, organizationId, [{ userId: (await account()).id }]),
  stops: async (place) => aStop(place.server, place.organizationId, { agentId: (await stopped(place)).id, by: place.person.id }),
  capability: async () => 'web.search',
  name: ({ server, organizationId }) => aCapability(server, organizationId),
  secret: ({ server, organizationId }) => aSecret(server, organizationId),
  grant: async ({ server, agent }) => {
    const query = { agentId: (await agent()).id, capability: 'web.search' };
    return (await asRoot(server).get('/api/v1/capabilities/grants', { query })).expect(200).text('grants.0.id');
  },
  executions: async ({ server, agent }) =>
    (await execute(server, 'web.search', await agent())).expect(200).text('executionId'),
  executionId: async ({ server, agent }) => leasedWork(server, await agent()),
  hitl: async ({ server, agent }) =>
    (await execute(server, 'email.send', await agent())).expect(202).text('hitlRequestId'),
  tasks: async ({ server, agent }) => aTask(server, (await agent()).id),
  notifications: async ({ server, organizationId, account }) => aNotification(server, organizationId, (await account()).id),
  deliveries: ({ server, organizationId }) => aDeadDelivery(server, organizationId),
  // The only one that is always set up.
  channel: async () => 'in_app',
  tenants: async ({ server }) => (await aTenant(server, 'teams')).id,
  erasures: ({ server, organizationId }) => anErasure(server, organizationId),
  audit: ({ server, organizationId, person }) => anEntryAbout(server, organizationId, person.id),
};

/** An agent that nothing else needs: whatever a stop holds is of no use to other calls. */
const stopped = ({ server, organizationId, person }: ObjectOwner) => anAgentOf(server, organizationId, person);

/** A task that root has given to the agent. */
export async function aTask(server: TestServer, toAgentId: string, mark = 'x'): Promise<string> {
  const organizationId = (await server.sql<{ id: string }>('select organization_id as id from agents where id = $1', [toAgentId]))[0]!.id;
  const task = { capability: 'web.search', input: { mark }, description: mark };
  return (await asRoot(server).post('/api/v1/routing/delegate', { task, toAgentId, organizationId })).expect(201).text('task.id');
}

const execute = (server: TestServer, capability: string, { id }: BuiltAgent) =>
  asRoot(server).post('/api/v1/execute', { capability, agentId: id });

/** Work that a node of the agent has leased, of an execution that is over: real enough to be found. */
async function leasedWork(server: TestServer, agent: BuiltAgent): Promise<string> {
  const id = (await execute(server, 'web.search', agent)).expect(200).text('executionId');
  await server.sql(`insert into node_work (organization_id, execution_id, agent_id, status, fence, execution_fence, yields, deadline)
    select organization_id, id, agent_id, 'leased', 1, 1, false, clock_timestamp() + interval '1 minute'
    from executions where id = $1`, [id]);
  return id;
}

/** A capability of the organization's own, as the API would define it in the caller's. */
async function aCapability(server: TestServer, organizationId: string): Promise<string> {
  const name = `own.x${randomBytes(4).toString('hex')}`;
  const owner = await aPerson(server, 'owner', { organizationId });
  (await owner.client.post('/api/v1/capabilities', { name, description: 'of the organization' })).expect(201);
  return name;
}

/** A secret that no definition names, as the API would set it. */
async function aSecret(server: TestServer, organizationId: string): Promise<string> {
  const name = `s${randomBytes(4).toString('hex')}`;
  const owner = await aPerson(server, 'owner', { organizationId });
  const body = { value: 'a value of theirs', origins: ['https://api.example.com'] };
  (await owner.client.put(`/api/v1/secrets/${name}`, body)).expect(201);
  return name;
}

/** An entry of the organization's own chain that names the person. */
async function anEntryAbout(server: TestServer, organizationId: string, userId: string): Promise<string> {
  const name = await aCapability(server, organizationId);
  // Not the newest: that may be of a call under way, and whoever made it may see it.
  const [entry] = await server.sql<{ id: string }>(
    `select id from audit_entries where organization_id = $1 and chain = $2 and event = 'capability.defined' and capability = $3`,
    [organizationId, `sys_${organizationId}`, name],
  );
  await server.sql(
    `insert into audit_subjects (organization_id, user_id, entry_id, pointer, chain, seq, event, capability, outcome, "timestamp")
     select organization_id, $2, id, '/metadata/by', chain, seq, event, capability, outcome, "timestamp"
     from audit_entries where organization_id = $1 and id = $3 on conflict do nothing`,
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

/** Names that callers give within their own organization: to set one that another organization has, too, makes one of their own. */
const GIVEN: ReadonlySet<string> = new Set(['secret']);

const AGENT = '<the agent>';
const ACCOUNT = '<the account>';

/** Path and body of a call to the route that names what really is there. */
export async function targetOf(route: Route, place: ObjectOwner): Promise<Target> {
  const ids: Record<string, string> = {};
  for (const name of namedIn(route)) {
    const make = MAKERS[name];
    if (make === undefined) {
      throw new Error(`${route.template} names {${name}}: say in test/support/routes/real-objects.ts how to make one`);
    }
    ids[name] = await make(place);
  }
  const path = pathOf(route, ids);
  // A channel is the caller's own organization's, by whatever name.
  const isGiven = route.method === 'PUT' && namedIn(route).every((name) => GIVEN.has(name));
  const named = namedIn(route).some((name) => name !== 'channel') && !isGiven ? 'in the path' : 'nothing';
  if (!route.takesBody) return { path, body: undefined, names: named };
  const written = JSON.stringify(goodBody(route, { agentId: AGENT, userId: ACCOUNT, organizationId: place.sibling }));
  const inBody = written.includes(AGENT) || written.includes(ACCOUNT);
  const agent = route.template.endsWith('/stops') ? () => stopped(place) : () => place.agent();
  const agentId = written.includes(AGENT) ? (await agent()).id : '';
  const accountId = written.includes(ACCOUNT) ? (await place.account()).id : '';
  const body = JSON.parse(written.replaceAll(AGENT, agentId).replaceAll(ACCOUNT, accountId)) as Record<string, unknown>;
  return { path, body, names: named === 'nothing' && inBody ? 'in the body' : named };
}
