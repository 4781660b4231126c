import type { Reply } from '../http/actors.js';
import { at, aPerson, CAPABILITIES, type HonestWorld, TERMS } from './honest-world.js';
import { oneOf } from './races.js';

type Operation = (world: HonestWorld) => Promise<Reply | undefined>;

const input = ({ random }: HonestWorld) => ({ n: Math.floor(random() * 10), to: oneOf(['ann', 'bob', 'cy'], random) });
const fromNow = (ms: number) => new Date(Date.now() + ms).toISOString();

/** What goes on at an organization, and how often: whether it may be done, or comes too late, is for the servers to say. */
const OPERATIONS: readonly (readonly [name: string, weight: number, Operation])[] = [
  ['a call', 50, async (world) => {
    const agent = oneOf(world.agents, world.random);
    const behind = world.random() < 0.1 ? { context: { on_behalf_of: oneOf(world.people, world.random).id } } : {};
    const capability = oneOf(CAPABILITIES, world.random);
    const reply = await at(world, agent).post('/api/v1/execute', { capability, input: input(world), ...behind });
    if (reply.status === 202) world.requests.push({ id: reply.text('hitlRequestId') });
    return reply;
  }],
  ['a question', 3, async (world) => {
    const reply = await at(world, oneOf(world.agents, world.random))
      .post('/api/v1/hitl', { capability: oneOf(CAPABILITIES, world.random), payload: input(world) });
    if (reply.status === 201) world.requests.push({ id: reply.text('request.id') });
    return reply;
  }],
  ['an approval', 16, (world) => decided(world, 'approve', {})],
  ['an edit', 4, (world) => decided(world, 'approve', { editedInput: { ...input(world), by: 'hand' } })],
  ['broken glass', 2, (world) => decided(world, 'approve', { breakGlass: true, note: 'nobody else was to be had' })],
  ['a rejection', 4, (world) => decided(world, 'reject', {})],
  ['an escalation', 4, (world) => decided(world, 'escalate', { reason: 'not alone' })],
  ['a trigger pulled', 1, (world) => decided(world, 'timeout', {})],
  ['a grant', 6, (world) => at(world, 'root').post('/api/v1/capabilities/grant', {
    agentId: oneOf(world.agents, world.random).id, capability: oneOf(CAPABILITIES, world.random), ...oneOf(TERMS, world.random),
    ...(world.random() < 0.2 ? { expiresAt: fromNow(1_000 * world.random() + 200) } : {}),
  })],
  ["a team's grant", 6, (world) => at(world, 'root').post('/api/v1/capabilities/grant', {
    teamId: world.teamId, capability: oneOf(CAPABILITIES, world.random), ...oneOf(TERMS, world.random),
  })],
  ['a revocation', 2, async (world) => {
    const listed = await at(world, 'root').get(`/api/v1/agents/${oneOf(world.agents, world.random).id}/capabilities`);
    if (listed.status !== 200 || listed.list('grants').length === 0) return undefined;
    return at(world, 'root').delete(`/api/v1/capabilities/grant/${oneOf(listed.list('grants') as { id: string }[], world.random).id}`);
  }],
  ['a definition', 4, (world) => at(world, world.people[2]!).patch('/api/v1/capabilities/crm.push', {
    inputSchema: { type: 'object', maxProperties: 1 + Math.ceil(world.random() * 3) },
  })],
  ['a stop', 2, async (world) => {
    const { id: agentId } = oneOf(world.agents, world.random);
    const whole = { scope: 'organization', id: world.organizations[1] };
    const scope = oneOf([{ scope: 'all' }, whole, { scope: 'agent', id: agentId }], world.random);
    const reply = await at(world, 'root').post('/api/v1/stops', { ...scope, reason: 'a drill' });
    if (reply.status === 201) world.stops.push(reply.text('stop.id'));
    return reply;
  }],
  ['a stop lifted', 9, async (world) => {
    const id = world.stops.shift();
    return id === undefined ? undefined : at(world, 'root').delete(`/api/v1/stops/${id}`);
  }],
  ['another role', 4, (world) => at(world, 'root').patch(`/api/v1/users/${oneOf(world.people.slice(1), world.random).id}`,
    { role: oneOf(['viewer', 'member', 'admin', 'owner'], world.random) })],
  ['somebody new', 1, async (world) => {
    world.people.push(await aPerson(oneOf(world.servers, world.random), oneOf(['member', 'admin'], world.random), world.organizations[1]));
    return undefined;
  }],
  ['an account closed', 0.5, (world) => at(world, 'root').delete(`/api/v1/users/${world.people.at(-1)!.id}`)],
  ['a place in the team', 3, (world) => at(world, 'root').post(`/api/v1/teams/${world.teamId}/members`,
    { userId: oneOf(world.people, world.random).id, role: oneOf(['member', 'lead'], world.random) })],
  ['a place given up', 2, (world) =>
    at(world, 'root').delete(`/api/v1/teams/${world.teamId}/members/${oneOf(world.people, world.random).id}`)],
  ['an agent changed', 4, (world) => at(world, 'root').patch(`/api/v1/agents/${oneOf(world.agents, world.random).id}`, oneOf([
    { tags: ['eu'] }, { tags: [] }, { teamId: world.teamId }, { teamId: null }, { ownerId: oneOf(world.people.slice(1), world.random).id },
  ], world.random))],
  ['a risk', 3, (world) => at(world, 'root').patch(`/api/v1/agents/${oneOf(world.agents, world.random).id}/risk-level`,
    { riskLevel: oneOf(['minimal', 'limited', 'high'], world.random) })],
  ['a token', 6, async (world) => {
    const agent = oneOf(world.agents, world.random);
    const reply = await at(world, 'root').post(`/api/v1/agents/${agent.id}/token`);
    if (reply.status === 200) agent.token = reply.text('token');
    return reply;
  }],
  ['out of service', 1, (world) => at(world, 'root').post(`/api/v1/agents/${oneOf(world.agents, world.random).id}/deactivate`)],
  ['back in service', 3, (world) => at(world, 'root').post(`/api/v1/agents/${oneOf(world.agents, world.random).id}/activate`)],
  ['an erasure', 1, (world) => at(world, world.people[2]!).post('/api/v1/audit/erasures',
    { values: [oneOf(['ann', 'bob'], world.random)], reason: 'they asked' })],
  ['a transfer', 0.5, (world) => at(world, 'root').post(`/api/v1/agents/${world.agents.at(-1)!.id}/transfer`,
    { organizationId: oneOf(world.organizations, world.random) })],
];

export const OPERATION_NAMES = OPERATIONS.map(([name]) => name);
const ALL = OPERATIONS.reduce((sum, [, weight]) => sum + weight, 0);

/** Something of all that. A server that is away answers nothing, and nobody minds. */
export async function anyOperation(world: HonestWorld): Promise<void> {
  let left = world.random() * ALL;
  const [name, , operation] = OPERATIONS.find(([, weight]) => (left -= weight) < 0) ?? OPERATIONS[0]!;
  const reply = await operation(world).catch(() => undefined);
  if (reply === undefined ? name === 'somebody new' : reply.status < 300) world.coverage[name]! += 1;
}

async function decided(world: HonestWorld, verb: string, body: object): Promise<Reply | undefined> {
  const { requests, people, random } = world;
  const recent = requests.slice(-12);
  if (recent.length === 0) return undefined;
  const { id } = oneOf(recent, random);
  const by = at(world, random() < 0.1 ? 'root' : oneOf(people, random));
  const shown = await by.get(`/api/v1/hitl/${id}`);
  const digest = shown.status === 200 ? JSON.stringify(shown.body).match(/"action_?[dD]igest":"([^"]+)"/)?.[1] : undefined;
  const expected = digest === undefined || verb === 'timeout' ? {} : { expectedDigest: digest };
  return by.post(`/api/v1/hitl/${id}/${verb}`, { ...body, ...expected }, { query: { wait: 0 } });
}
