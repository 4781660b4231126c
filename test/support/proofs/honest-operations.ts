import type { Reply } from '../http/actors.js';
import {
  aPerson, anHonestAgent, aServer, at, CAPABILITIES, type HonestAgent, type HonestScenario, TERMS, type Ties,
} from './honest-scenario.js';
import { TASK_OPERATIONS, type WeighedOperation } from './honest-tasks.js';
import { oneOf } from './races.js';

const DONE = { status: 200, body: {} };
const input = ({ customers, random }: HonestScenario) => ({ n: Math.floor(random() * 10), to: oneOf(customers, random) });
const fromNow = (ms: number) => new Date(Date.now() + ms).toISOString();
const person = ({ people, random }: HonestScenario) => oneOf(people.slice(1), random);
const agent = ({ agents, random }: HonestScenario) => oneOf(agents, random);

/** Mostly one that the agent was granted. */
function capabilityOf({ capabilities }: HonestAgent, { random }: HonestScenario): string {
  return oneOf(random() < 0.1 || capabilities.size === 0 ? CAPABILITIES : [...capabilities], random);
}

/** What goes on at an organization, and how often: whether it may be done, or comes too late, is for the servers to say. */
const OPERATIONS: readonly WeighedOperation[] = [
  ['a call', 100, async (scenario) => {
    const by = agent(scenario);
    const behind = scenario.random() < 0.1 ? { context: { on_behalf_of: person(scenario).id } } : {};
    const call = { capability: capabilityOf(by, scenario), input: input(scenario), ...behind };
    const reply = await at(scenario, by).post('/api/v1/execute', call);
    if (reply.status === 202) scenario.requests.add(reply.text('hitlRequestId'));
    return reply;
  }],
  ['a question', 8, async (scenario) => {
    const by = agent(scenario);
    const reply = await at(scenario, by).post('/api/v1/hitl', { capability: capabilityOf(by, scenario), payload: input(scenario) });
    if (reply.status === 201) scenario.requests.add(reply.text('request.id'));
    return reply;
  }],
  ['an approval', 30, (scenario) => decided(scenario, 'approve', {})],
  ['an edit', 8, (scenario) => decided(scenario, 'approve', { editedInput: { ...input(scenario), by: 'hand' } })],
  ['broken glass', 4, (scenario) => decided(scenario, 'approve', { breakGlass: true, note: 'nobody else was to be had' })],
  ['a rejection', 6, (scenario) => decided(scenario, 'reject', {})],
  ['an escalation', 6, (scenario) => decided(scenario, 'escalate', { reason: 'not alone' })],
  ['a trigger pulled', 2, (scenario) => decided(scenario, 'timeout', {})],
  ['a grant', 6, async (scenario) => {
    const [to, capability] = [agent(scenario), oneOf(CAPABILITIES, scenario.random)];
    to.capabilities.add(capability);
    return at(scenario, 'root').post('/api/v1/capabilities/grant', {
      agentId: to.id, capability, ...oneOf(TERMS, scenario.random),
      ...(scenario.random() < 0.2 ? { expiresAt: fromNow(1_000 * scenario.random() + 200) } : {}),
    });
  }],
  ["a team's grant", 6, async (scenario) => {
    const capability = oneOf(CAPABILITIES, scenario.random);
    for (const { capabilities } of scenario.agents) capabilities.add(capability);
    const grant = { teamId: scenario.teamId, capability, ...oneOf(TERMS, scenario.random) };
    return at(scenario, 'root').post('/api/v1/capabilities/grant', grant);
  }],
  ['a revocation', 2, async (scenario) => {
    const listed = await at(scenario, 'root').get(`/api/v1/agents/${agent(scenario).id}/capabilities`);
    if (listed.status !== 200 || listed.list('grants').length === 0) return undefined;
    const { id } = oneOf(listed.list('grants') as { id: string }[], scenario.random);
    return at(scenario, 'root').delete(`/api/v1/capabilities/grant/${id}`);
  }],
  ['a definition', 4, (scenario) =>
    at(scenario, oneOf(scenario.people.slice(1, 4), scenario.random)).patch('/api/v1/capabilities/crm.push', {
      inputSchema: { type: 'object', maxProperties: 1 + Math.ceil(scenario.random() * 3) },
    })],
  ['a stop', 2, async (scenario) => {
    const whole = { scope: 'organization', id: scenario.organizations[1] };
    const scope = oneOf([{ scope: 'all' }, whole, { scope: 'agent', id: agent(scenario).id }], scenario.random);
    return at(scenario, 'root').post('/api/v1/stops', { ...scope, reason: 'a drill' }).finally(() => (scenario.stops.mayBe = true));
  }],
  ['a stop lifted', 0, liftStop],
  ['another role', 4, (scenario) =>
    at(scenario, 'root').patch(`/api/v1/users/${person(scenario).id}`, {
      role: oneOf(['viewer', 'member', 'admin', 'owner'], scenario.random),
    })],
  ['somebody new', 2, async (scenario) => {
    scenario.people.push(await aPerson(aServer(scenario), oneOf(['member', 'admin'], scenario.random), scenario.organizations[1]));
    return DONE;
  }],
  ['an account closed', 1, (scenario) => at(scenario, 'root').delete(`/api/v1/users/${scenario.people.at(-1)!.id}`)],
  ["a person's data erased", 1, (scenario) => at(scenario, 'root').delete(`/api/v1/users/${scenario.people.at(-1)!.id}/data`)],
  ['a membership', 3, (scenario) => at(scenario, 'root').post(`/api/v1/teams/${scenario.teamId}/members`,
    { userId: person(scenario).id, role: oneOf(['member', 'lead'], scenario.random) })],
  ['a membership ended', 2, (scenario) => at(scenario, 'root').delete(`/api/v1/teams/${scenario.teamId}/members/${person(scenario).id}`)],
  ['an agent registered', 2, async (scenario) => {
    await anHonestAgent(scenario, oneOf<Ties>([{ teamId: scenario.teamId }, { ownerId: person(scenario).id }], scenario.random));
    return DONE;
  }],
  ['an agent changed', 4, (scenario) => at(scenario, 'root').patch(`/api/v1/agents/${agent(scenario).id}`, oneOf([
    { tags: ['eu'] }, { tags: [] }, { teamId: scenario.teamId }, { teamId: null }, { ownerId: person(scenario).id },
  ], scenario.random))],
  ['a risk', 3, (scenario) => at(scenario, 'root').patch(`/api/v1/agents/${agent(scenario).id}/risk-level`,
    { riskLevel: oneOf(['minimal', 'limited', 'high'], scenario.random) })],
  ['a token', 8, async (scenario) => {
    const by = agent(scenario);
    const reply = await at(scenario, 'root').post(`/api/v1/agents/${by.id}/token`);
    if (reply.status === 200) by.token = reply.text('token');
    return reply;
  }],
  ['out of service', 1, async (scenario) => {
    const { id } = agent(scenario);
    scenario.inactive.add(id);
    return at(scenario, 'root').post(`/api/v1/agents/${id}/deactivate`);
  }],
  ['back in service', 4, async (scenario) => {
    const [id] = scenario.inactive;
    if (id === undefined) return undefined;
    scenario.inactive.delete(id);
    return at(scenario, 'root').post(`/api/v1/agents/${id}/activate`);
  }],
  ['an erasure', 3, async (scenario) => {
    const { customers, random, organizations: [, organizationId], people: [, owner] } = scenario;
    const [asks, confirms] = oneOf([['root', owner!], [owner!, 'root']] as const, random);
    const reply = await at(scenario, asks).post('/api/v1/audit/erasures',
      { values: [oneOf(customers, random)], reason: 'they asked', organizationId });
    return reply.status === 202 ? at(scenario, confirms).post(`/api/v1/audit/erasures/${reply.text('erasure.id')}/confirm`) : reply;
  }],
  ['a transfer', 1, (scenario) => at(scenario, 'root').post(`/api/v1/agents/${scenario.agents.at(-1)!.id}/transfer`,
    { organizationId: oneOf(scenario.organizations, scenario.random) })],
  ...TASK_OPERATIONS,
];

export const OPERATION_NAMES = OPERATIONS.map(([name]) => name);
const ALL = OPERATIONS.reduce((sum, [, weight]) => sum + weight, 0);
/** A stop holds most of what else is done: it is soon lifted. */
const LIFTING = 0.15;

/** Something of all that. A server that is away answers nothing, and nobody minds. */
export async function anyOperation(scenario: HonestScenario): Promise<void> {
  let left = scenario.random() * ALL;
  const isLifting = scenario.stops.mayBe && scenario.random() < LIFTING;
  const [name, , operation] = OPERATIONS.find(([one, weight]) => (isLifting ? one === 'a stop lifted' : (left -= weight) < 0))!;
  const reply = await operation(scenario).catch(() => undefined);
  if (reply && reply.status < 300) scenario.coverage[name]! += 1;
}

/** One of those in force, if there is any. */
export async function liftStop(scenario: HonestScenario): Promise<Reply | undefined> {
  const { stops, random } = scenario;
  // A stop that is begun meanwhile says so again.
  stops.mayBe = false;
  const reply = await at(scenario, 'root').get('/api/v1/stops', { query: { status: 'active' } }).catch(() => undefined);
  const inForce = reply?.list('stops') as { id: string }[] | undefined;
  if (inForce?.length === 0) return undefined;
  stops.mayBe = true;
  return inForce && at(scenario, 'root').delete(`/api/v1/stops/${oneOf(inForce, random).id}`);
}

/** Somebody decides a request that is open, as they see it; now and then one that has ended since it was asked. */
async function decided(scenario: HonestScenario, verb: string, body: object): Promise<Reply | undefined> {
  const { requests, people, random } = scenario;
  if (requests.size === 0) return undefined;
  const id = oneOf([...requests], random);
  const by = at(scenario, random() < 0.1 ? 'root' : oneOf(people, random));
  const shown = await by.get(`/api/v1/hitl/${id}`);
  if (shown.status === 200 && !['pending', 'escalated'].includes(shown.text('status'))) requests.delete(id);
  const digest = shown.status === 200 ? JSON.stringify(shown.body).match(/"action_?[dD]igest":"([^"]+)"/)?.[1] : undefined;
  const expected = digest === undefined || verb === 'timeout' ? {} : { expectedDigest: digest };
  return by.post(`/api/v1/hitl/${id}/${verb}`, { ...body, ...expected }, verb === 'approve' ? { query: { wait: 0 } } : {});
}
