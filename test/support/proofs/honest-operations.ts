import type { Reply } from '../http/actors.js';
import { aPerson, anHonestAgent, aServer, at, CAPABILITIES, type HonestAgent, type HonestWorld, TERMS, type Ties } from './honest-world.js';
import { oneOf } from './races.js';

/** Answers what a server answered; nothing where there was nothing to do. */
type Operation = (world: HonestWorld) => Promise<Pick<Reply, 'status' | 'body'> | undefined>;

const DONE = { status: 200, body: {} };
const input = ({ customers, random }: HonestWorld) => ({ n: Math.floor(random() * 10), to: oneOf(customers, random) });
const fromNow = (ms: number) => new Date(Date.now() + ms).toISOString();
const person = ({ people, random }: HonestWorld) => oneOf(people.slice(1), random);
const agent = ({ agents, random }: HonestWorld) => oneOf(agents, random);

/** Mostly one that the agent was granted. */
function capabilityOf({ capabilities }: HonestAgent, { random }: HonestWorld): string {
  return oneOf(random() < 0.1 || capabilities.size === 0 ? CAPABILITIES : [...capabilities], random);
}

/** What goes on at an organization, and how often: whether it may be done, or comes too late, is for the servers to say. */
const OPERATIONS: readonly (readonly [name: string, weight: number, Operation])[] = [
  ['a call', 100, async (world) => {
    const by = agent(world);
    const behind = world.random() < 0.1 ? { context: { on_behalf_of: person(world).id } } : {};
    const reply = await at(world, by).post('/api/v1/execute', { capability: capabilityOf(by, world), input: input(world), ...behind });
    if (reply.status === 202) world.requests.add(reply.text('hitlRequestId'));
    return reply;
  }],
  ['a question', 8, async (world) => {
    const by = agent(world);
    const reply = await at(world, by).post('/api/v1/hitl', { capability: capabilityOf(by, world), payload: input(world) });
    if (reply.status === 201) world.requests.add(reply.text('request.id'));
    return reply;
  }],
  ['an approval', 30, (world) => decided(world, 'approve', {})],
  ['an edit', 8, (world) => decided(world, 'approve', { editedInput: { ...input(world), by: 'hand' } })],
  ['broken glass', 4, (world) => decided(world, 'approve', { breakGlass: true, note: 'nobody else was to be had' })],
  ['a rejection', 6, (world) => decided(world, 'reject', {})],
  ['an escalation', 6, (world) => decided(world, 'escalate', { reason: 'not alone' })],
  ['a trigger pulled', 2, (world) => decided(world, 'timeout', {})],
  ['a grant', 6, async (world) => {
    const [to, capability] = [agent(world), oneOf(CAPABILITIES, world.random)];
    to.capabilities.add(capability);
    return at(world, 'root').post('/api/v1/capabilities/grant', {
      agentId: to.id, capability, ...oneOf(TERMS, world.random),
      ...(world.random() < 0.2 ? { expiresAt: fromNow(1_000 * world.random() + 200) } : {}),
    });
  }],
  ["a team's grant", 6, async (world) => {
    const capability = oneOf(CAPABILITIES, world.random);
    for (const { capabilities } of world.agents) capabilities.add(capability);
    return at(world, 'root').post('/api/v1/capabilities/grant', { teamId: world.teamId, capability, ...oneOf(TERMS, world.random) });
  }],
  ['a revocation', 2, async (world) => {
    const listed = await at(world, 'root').get(`/api/v1/agents/${agent(world).id}/capabilities`);
    if (listed.status !== 200 || listed.list('grants').length === 0) return undefined;
    return at(world, 'root').delete(`/api/v1/capabilities/grant/${oneOf(listed.list('grants') as { id: string }[], world.random).id}`);
  }],
  ['a definition', 4, (world) => at(world, oneOf(world.people.slice(1, 4), world.random)).patch('/api/v1/capabilities/crm.push', {
    organizationId: world.organizations[1], inputSchema: { type: 'object', maxProperties: 1 + Math.ceil(world.random() * 3) },
  })],
  ['a stop', 2, async (world) => {
    const whole = { scope: 'organization', id: world.organizations[1] };
    const scope = oneOf([{ scope: 'all' }, whole, { scope: 'agent', id: agent(world).id }], world.random);
    return at(world, 'root').post('/api/v1/stops', { ...scope, reason: 'a drill' }).finally(() => (world.stops.mayBe = true));
  }],
  ['a stop lifted', 0, liftStop],
  ['another role', 4, (world) =>
    at(world, 'root').patch(`/api/v1/users/${person(world).id}`, { role: oneOf(['viewer', 'member', 'admin', 'owner'], world.random) })],
  ['somebody new', 2, async (world) => {
    world.people.push(await aPerson(aServer(world), oneOf(['member', 'admin'], world.random), world.organizations[1]));
    return DONE;
  }],
  ['an account closed', 1, (world) => at(world, 'root').delete(`/api/v1/users/${world.people.at(-1)!.id}`)],
  ["a person's data erased", 1, (world) => at(world, 'root').delete(`/api/v1/users/${world.people.at(-1)!.id}/data`)],
  ['a membership', 3, (world) => at(world, 'root').post(`/api/v1/teams/${world.teamId}/members`,
    { userId: person(world).id, role: oneOf(['member', 'lead'], world.random) })],
  ['a membership ended', 2, (world) => at(world, 'root').delete(`/api/v1/teams/${world.teamId}/members/${person(world).id}`)],
  ['an agent registered', 2, async (world) => {
    await anHonestAgent(world, oneOf<Ties>([{ teamId: world.teamId }, { ownerId: person(world).id }], world.random));
    return DONE;
  }],
  ['an agent changed', 4, (world) => at(world, 'root').patch(`/api/v1/agents/${agent(world).id}`, oneOf([
    { tags: ['eu'] }, { tags: [] }, { teamId: world.teamId }, { teamId: null }, { ownerId: person(world).id },
  ], world.random))],
  ['a risk', 3, (world) => at(world, 'root').patch(`/api/v1/agents/${agent(world).id}/risk-level`,
    { riskLevel: oneOf(['minimal', 'limited', 'high'], world.random) })],
  ['a token', 8, async (world) => {
    const by = agent(world);
    const reply = await at(world, 'root').post(`/api/v1/agents/${by.id}/token`);
    if (reply.status === 200) by.token = reply.text('token');
    return reply;
  }],
  ['out of service', 1, async (world) => {
    const { id } = agent(world);
    world.inactive.add(id);
    return at(world, 'root').post(`/api/v1/agents/${id}/deactivate`);
  }],
  ['back in service', 4, async (world) => {
    const [id] = world.inactive;
    if (id === undefined) return undefined;
    world.inactive.delete(id);
    return at(world, 'root').post(`/api/v1/agents/${id}/activate`);
  }],
  ['an erasure', 3, async (world) => {
    const { customers, random, organizations: [, organizationId], people: [, owner] } = world;
    const [asks, confirms] = oneOf([['root', owner!], [owner!, 'root']] as const, random);
    const reply = await at(world, asks).post('/api/v1/audit/erasures',
      { values: [oneOf(customers, random)], reason: 'they asked', organizationId });
    return reply.status === 202 ? at(world, confirms).post(`/api/v1/audit/erasures/${reply.text('erasure.id')}/confirm`) : reply;
  }],
  ['a transfer', 1, (world) => at(world, 'root').post(`/api/v1/agents/${world.agents.at(-1)!.id}/transfer`,
    { organizationId: oneOf(world.organizations, world.random) })],
];

export const OPERATION_NAMES = OPERATIONS.map(([name]) => name);
const ALL = OPERATIONS.reduce((sum, [, weight]) => sum + weight, 0);
/** A stop holds most of what else is done: it is soon lifted. */
const LIFTING = 0.15;

/** Something of all that. A server that is away answers nothing, and nobody minds. */
export async function anyOperation(world: HonestWorld): Promise<void> {
  let left = world.random() * ALL;
  const isLifting = world.stops.mayBe && world.random() < LIFTING;
  const [name, , operation] = OPERATIONS.find(([one, weight]) => (isLifting ? one === 'a stop lifted' : (left -= weight) < 0))!;
  const reply = await operation(world).catch(() => undefined);
  if (reply && reply.status < 300) world.coverage[name]! += 1;
}

/** One of those in force, if there is any. */
export async function liftStop(world: HonestWorld): Promise<Reply | undefined> {
  const { stops, random } = world;
  // A stop that is begun meanwhile says so again.
  stops.mayBe = false;
  const reply = await at(world, 'root').get('/api/v1/stops', { query: { status: 'active' } }).catch(() => undefined);
  const inForce = reply?.list('stops') as { id: string }[] | undefined;
  if (inForce?.length === 0) return undefined;
  stops.mayBe = true;
  return inForce && at(world, 'root').delete(`/api/v1/stops/${oneOf(inForce, random).id}`);
}

/** Somebody decides a request that is open, as they see it; now and then one that has ended since it was asked. */
async function decided(world: HonestWorld, verb: string, body: object): Promise<Reply | undefined> {
  const { requests, people, random } = world;
  if (requests.size === 0) return undefined;
  const id = oneOf([...requests], random);
  const by = at(world, random() < 0.1 ? 'root' : oneOf(people, random));
  const shown = await by.get(`/api/v1/hitl/${id}`);
  if (shown.status === 200 && !['pending', 'escalated'].includes(shown.text('status'))) requests.delete(id);
  const digest = shown.status === 200 ? JSON.stringify(shown.body).match(/"action_?[dD]igest":"([^"]+)"/)?.[1] : undefined;
  const expected = digest === undefined || verb === 'timeout' ? {} : { expectedDigest: digest };
  return by.post(`/api/v1/hitl/${id}/${verb}`, { ...body, ...expected }, verb === 'approve' ? { query: { wait: 0 } } : {});
}
