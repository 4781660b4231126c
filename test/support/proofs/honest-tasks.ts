import type { Reply } from '../http/actors.js';
import { anHonestAgent, at, CAPABILITIES, type HonestAgent, type HonestScenario } from './honest-scenario.js';
import { oneOf } from './races.js';

/** Answers what a server answered; nothing where there was nothing to do. */
export type Operation = (scenario: HonestScenario) => Promise<Pick<Reply, 'status' | 'body'> | undefined>;
export type WeighedOperation = readonly [name: string, weight: number, Operation];

const PARTS = 0.4;
const UNNAMED = 0.3;

/** What agents give to each other, and what becomes of it when one of a chain is not there any more. */
export const TASK_OPERATIONS: readonly WeighedOperation[] = [
  ['a task', 40, async (scenario) => {
    const { agents, tasks, random } = scenario;
    const parent = random() < PARTS ? anyTask(scenario) : undefined;
    const by = parent?.to ?? oneOf(agents, random);
    return given(scenario, by, parent?.capability ?? oneOf(shared(by), random), parent && tasks.has(parent.id) ? parent.id : undefined);
  }],
  ["a person's task", 8, (scenario) => given(scenario, oneOf(scenario.people, scenario.random), oneOf(CAPABILITIES, scenario.random))],
  ["a task's call", 60, async (scenario) => {
    const { tasks, requests, random } = scenario;
    const task = anyTask(scenario);
    if (!task) return undefined;
    const { id, to, capability, input } = task;
    const named = random() < UNNAMED ? {} : { context: { task_id: id } };
    const reply = await at(scenario, to).post('/api/v1/execute', { capability, input, ...named });
    if (reply.status === 202) requests.add(reply.text('hitlRequestId'));
    if (reply.status !== 503 && random() < 0.8) tasks.delete(id);
    return reply;
  }],
  ['a task cancelled', 4, async (scenario) => {
    const task = anyTask(scenario);
    return task && at(scenario, 'root').post(`/api/v1/tasks/${task.id}/cancel`);
  }],
  ['an agent removed', 1, async (scenario) => {
    const { agents, teamId, random } = scenario;
    const gone = anyTask(scenario)?.to ?? oneOf(agents, random);
    const reply = await at(scenario, 'root').delete(`/api/v1/agents/${gone.id}`);
    if (reply.status !== 204) return reply;
    await anHonestAgent(scenario, { teamId });
    const index = agents.indexOf(gone);
    if (index >= 0) agents.splice(index, 1);
    return reply;
  }],
];

const anyTask = ({ tasks, random }: HonestScenario) => (tasks.size === 0 ? undefined : oneOf([...tasks.values()], random));
const shared = ({ capabilities }: HonestAgent) => (capabilities.size === 0 ? CAPABILITIES : [...capabilities]);

async function given(
  scenario: HonestScenario, by: { readonly token: string }, capability: string, parentId?: string,
): Promise<Reply> {
  const { agents, tasks, customers, random } = scenario;
  const to = oneOf(agents.filter((one) => one !== by), random);
  const input = { n: Math.floor(random() * 10), to: oneOf(customers, random) };
  const task = { capability, input, description: `about ${oneOf(customers, random)}`, ...(parentId === undefined ? {} : { parentId }) };
  const reply = await at(scenario, by).post('/api/v1/routing/delegate', { toAgentId: to.id, task });
  if (reply.status === 201) tasks.set(reply.text('task.id'), { id: reply.text('task.id'), to, capability, input });
  return reply;
}
